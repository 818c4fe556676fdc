# frozen_string_literal: true

require "digest/md5"

module Soak
  # An honest client: asks one thing after the other on a kept connection, and holds every answer against what it must
  # be. Each request has an id of its own, so that another one's answer is seen.
  class Honest
    KINDS = { small: 8, large: 2, stream: 2, fed: 1, call: 1, file: 1, upload: 2, chunked_upload: 1, nap: 1, hijack: 1,
              partial: 1, error: 1, head: 1, pipeline: 1, half_close: 1 }
            .flat_map { |kind, weight| [kind] * weight }.freeze
    UPLOADS = [100, 20_000, 300_000, 2_000_000].freeze # octets; the greater ones are spooled
    PIPELINED = 10
    DEADLINE = 30 # seconds, for any one wait

    Wrong = Class.new(StandardError)

    attr_reader :answers, :errors

    # keeps: whether the server lets connections persist.
    def initialize(port, number, keeps: true)
      @port = port
      @number = number
      @keeps = keeps
      @random = Random.new(number)
      @answers = 0
      @errors = []
    end

    def run
      ask until @stopped
      leave
    end

    def stop
      @stopped = true
    end

    # One request of that kind.
    def ask(kind = KINDS.sample(random: @random))
      @client ||= WireClient.new(@port, deadline: DEADLINE)
      @id = "#{@number}-#{@answers}"
      send(kind)
      @answers += 1
    rescue Wrong, WireClient::Silence, WireClient::Truncated, ResponseReader::Malformed, SystemCallError => error
      @errors << "#{kind} #{@id}: #{error.class}: #{error.message[0, 300]}"
      leave
      sleep 0.1 # a server that is gone is not asked a thousand times
    end

    # Closes its connection.
    def leave
      @client&.close
      @client = nil
    end

    private

    def get(path, wanted, status: 200)
      check(@client.ask(request("GET", path)), wanted, status)
    end

    def request(method, path, fields = "")
      "#{method} #{path}?#{@id} HTTP/1.1\r\nHost: soak\r\n#{fields}\r\n"
    end

    def check(response, wanted, status = 200)
      raise Wrong, "answered #{response.status}" unless response.status == status

      body = response.body
      raise Wrong, "#{body.bytesize} octets: #{body[0, 60].inspect}" if wanted && body != wanted

      leave if response.close?
    end

    def small = get("/small", @id)
    def large = get("/large", format("%-15s\n", @id) * 20_000)
    def stream = get("/stream", Array.new(50) { |number| "#{@id} #{number}\n" }.join)
    def fed = get("/fed", Array.new(10) { |number| "#{@id} #{number}\n" }.join)
    def call = get("/call", @id * 3)
    def file = get("/file", "f" * 100_000)
    def nap = get("/sleep", @id)
    def hijack = get("/hijack", @id)
    def partial = get("/partial", @id)
    def error = get("/error", nil, status: 500)
    def head = check(@client.ask(request("HEAD", "/small"), head: true), "")

    def upload
      body = octets
      check(@client.ask(request("POST", "/upload", "Content-Length: #{body.bytesize}\r\n") + body), sum(body))
    end

    def chunked_upload
      body = octets
      size = 1 + @random.rand(100_000)
      parts = (0...body.bytesize).step(size).map { |at| body.byteslice(at, size) }
      chunks = parts.map { |part| "#{part.bytesize.to_s(16)}\r\n#{part}\r\n" }.join
      check(@client.ask("#{request("POST", "/upload", "Transfer-Encoding: chunked\r\n")}#{chunks}0\r\n\r\n"), sum(body))
    end

    def octets
      (@id * (UPLOADS.sample(random: @random) / @id.bytesize)).b
    end

    def sum(body)
      "#{body.bytesize} #{Digest::MD5.hexdigest(body)}"
    end

    # Several at once, answered in their order. A server that keeps no connection answers the first.
    def pipeline
      @client.write(request("GET", "/small") * (@keeps ? PIPELINED : 1))
      (@keeps ? PIPELINED : 1).times { check(@client.final_response, @id) }
    end

    # Sends FIN after its request, and is answered all the same.
    def half_close
      @client.write(request("GET", "/small")).half_close
      check(@client.final_response, @id)
      leave
    end
  end
end
