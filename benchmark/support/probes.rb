# frozen_string_literal: true

module Bench
  # Sends a few requests at random times during a load and keeps their times by status, which a load generator's
  # histogram does not. A Poisson process sees what every client sees. It uses one thread and persistent connections. A
  # request's time runs from its intended time.
  class Probes
    REQUEST = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    # asked: the intended time of the request in flight, nil without one.
    Client = Struct.new(:socket, :asked, :connected, :received)

    # rate: requests per second. timeout: seconds after which a request has failed.
    def initialize(port, rate:, timeout:, seed: 1)
      @address = Socket.sockaddr_in(port, "127.0.0.1")
      @rate = rate
      @timeout = timeout
      @random = Random.new(seed)
    end

    # Status (Integer, :timeout or :failed) => seconds of each request. Returns when the last one has its answer.
    def run(seconds)
      @clients, @idle, @times = [], [], Hash.new { |hash, key| hash[key] = [] }
      upcoming = Cuttle.now
      deadline = upcoming + seconds
      while upcoming < deadline || @clients.any?(&:asked)
        upcoming = ask_until_now(upcoming, deadline)
        wait(upcoming < deadline ? upcoming : Cuttle.now + 0.1)
        give_up
      end
      @times
    ensure
      @clients&.each { |client| client.socket.close }
    end

    private

    # Sends the requests that are due. Returns the time of the next one.
    def ask_until_now(upcoming, deadline)
      while upcoming < deadline && upcoming <= Cuttle.now
        ask(upcoming)
        upcoming -= Math.log(1 - @random.rand) / @rate
      end
      upcoming
    end

    def ask(intended)
      client = @idle.pop || connect
      client.asked = intended
      client.received = +""
      client.socket.write(REQUEST) if client.connected
    rescue SystemCallError
      finish(client, :failed)
    end

    def connect
      socket = Socket.new(:INET, :STREAM)
      socket.connect_nonblock(@address, exception: false)
      Client.new(socket).tap { |client| @clients << client }
    end

    def wait(time)
      connected, connecting = @clients.partition(&:connected)
      left = [time - Cuttle.now, 0].max
      ready = IO.select(connected.map(&:socket), connecting.map(&:socket), nil, left) or return
      by_socket = @clients.to_h { |client| [client.socket, client] }
      ready[1].each { |socket| begin_exchange(by_socket[socket]) }
      ready[0].each { |socket| take(by_socket[socket]) }
    end

    def begin_exchange(client)
      client.connected = true
      client.socket.write(REQUEST)
    rescue SystemCallError
      finish(client, :failed)
    end

    def take(client)
      client.received << client.socket.read_nonblock(65_536)
      head = client.received[/\A.*?\r\n\r\n/m] or return
      return if client.received.bytesize < head.bytesize + head[/^content-length:\s*(\d+)/i, 1].to_i

      finish(client, head[/\d{3}/].to_i, keep: !head.match?(/^connection:\s*close/i))
    rescue IO::WaitReadable
      nil
    rescue SystemCallError, EOFError
      finish(client, :failed)
    end

    # If the server has closed an idle connection, that is not a failure.
    def finish(client, status, keep: false)
      @times[status] << Cuttle.now - client.asked if client.asked
      client.asked = nil
      return @idle << client if keep

      client.socket.close
      [@clients, @idle].each { |list| list.delete(client) }
    end

    def give_up
      oldest = Cuttle.now - @timeout
      @clients.select { |client| client.asked && client.asked < oldest }.each { |client| finish(client, :timeout) }
    end
  end
end
