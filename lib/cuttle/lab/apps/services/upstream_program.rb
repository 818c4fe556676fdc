# frozen_string_literal: true

# The process of Services::Upstream: `ruby upstream_program.rb DELAY_MS`. It prints its port, serves HTTP/1.1 to apps
# under test (GET without a body, with or without keep-alive), and exits at the end of its standard input.

require "socket"
require_relative "../../network/event_loop"

# One connection: reads the head of a request, waits, answers.
class UpstreamConnection
  BODY = "upstream\n"
  LONGEST_HEAD = 16_384

  def initialize(socket, events, delay)
    @socket = socket
    @events = events
    @delay = delay
    @input = +""
    @events.on_read(@socket) { read }
  end

  private

  def read
    octets = @socket.read_nonblock(LONGEST_HEAD, exception: false)
    return if octets == :wait_readable
    return close if octets.nil? || @input.bytesize > LONGEST_HEAD

    @input << octets
    take
  rescue SystemCallError
    close
  end

  # Takes one request at a time. The next request waits until this one is answered.
  def take
    stop = @input.index("\r\n\r\n") or return
    head = @input.slice!(0, stop + 4)
    @events.on_read(@socket)
    @events.at(Cuttle::Lab::Network::EventLoop.now + delay(head)) { answer(head) }
  end

  # The delay in seconds.
  def delay(head)
    asked = head[/\A\S+ \S*[?&]delay_ms=(\d+(?:\.\d+)?)/, 1]
    asked ? asked.to_f / 1000 : @delay
  end

  # The answer fits into any socket's buffer.
  def answer(head)
    last = head.match?(/^connection: *close/i) || head.match?(%r{\A\S+ \S+ HTTP/1\.0\r})
    @socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: #{BODY.bytesize}\r\n" \
                  "#{"Connection: close\r\n" if last}\r\n#{BODY}")
    return close if last

    @events.on_read(@socket) { read }
    take
  rescue SystemCallError
    close
  end

  def close
    @events.forget(@socket)
    @socket.close
  end
end

Cuttle::Lab::Network::EventLoop.raise_limit
events = Cuttle::Lab::Network::EventLoop.new
delay = Float(ARGV.fetch(0)) / 1000
listener = TCPServer.new("127.0.0.1", 0)
listener.listen(1024)
events.on_read(listener) do
  while (socket = listener.accept_nonblock(exception: false)) != :wait_readable
    socket.setsockopt(:TCP, :NODELAY, true)
    UpstreamConnection.new(socket, events, delay)
  end
rescue SystemCallError
  nil # the client left before it was accepted
end
events.on_read($stdin) { events.stop } # readable means closed: the lab never writes to it

$stdout.puts "ready #{listener.addr[1]}"
$stdout.flush
events.run
