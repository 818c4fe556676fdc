# frozen_string_literal: true

module Soak
  # A client that does what no client should: leaves in the midst of things, sends garbage, says nothing. It expects
  # nothing of the server but that it goes on.
  class Vandal
    KINDS = %i[reset_in_head reset_in_body reset_in_chunk reset_in_response leave_before_answer garbage almost_http
               smuggle endless_head silence pipeline_and_reset expect_and_leave half_request].freeze
    PAUSE = 0.01 # seconds, in the mean, between two deeds
    PATIENCE = 1 # seconds to listen to an answer

    attr_reader :deeds

    def initialize(port, number)
      @port = port
      @random = Random.new(number)
      @deeds = 0
    end

    def run
      until @stopped
        deed
        Kernel.sleep(PAUSE * 2 * @random.rand)
      end
    end

    def stop
      @stopped = true
    end

    # One deed, on a connection of its own.
    def deed(kind = KINDS.sample(random: @random))
      WireClient.open(@port, deadline: PATIENCE) do |client|
        send(kind, client)
        client.reset if @random.rand(2).zero?
      end
      @deeds += 1
    rescue WireClient::Silence, SystemCallError, IOError
      @deeds += 1 # the server has ended it, or says nothing to it
    end

    private

    def post(fields)
      "POST /upload HTTP/1.1\r\nHost: soak\r\n#{fields}\r\n"
    end

    def get(path)
      "GET #{path} HTTP/1.1\r\nHost: soak\r\n\r\n"
    end

    # The first octets of something, at least one.
    def some_of(text)
      text.byteslice(0, 1 + @random.rand(text.bytesize - 1))
    end

    def reset_in_head(client) = client.write(some_of(get("/small?vandal"))).reset
    def reset_in_body(client) = client.write(post("Content-Length: 200000\r\n") + "x" * @random.rand(199_999)).reset
    def leave_before_answer(client) = client.write(get(%w[/sleep /fed /large /small].sample(random: @random))).reset
    def garbage(client) = client.write(@random.bytes(1 + @random.rand(3000))).rest
    def half_request(client) = client.write(some_of(get("/small"))).half_close.rest
    def silence(_client) = Kernel.sleep(0.1 * @random.rand)
    def endless_head(client) = client.write("GET / HTTP/1.1\r\nX: #{"y" * 200_000}\r\n").rest
    def pipeline_and_reset(client) = client.write(get("/large") * 10).fill
    def expect_and_leave(client) = client.write(post("Content-Length: 100000\r\nExpect: 100-continue\r\n")).fill

    def reset_in_chunk(client)
      client.write("#{post("Transfer-Encoding: chunked\r\n")}#{some_of("7530\r\n#{"x" * 30_000}\r\n0\r\n\r\n")}").reset
    end

    def reset_in_response(client)
      client.write(get(%w[/large /stream /fed /file].sample(random: @random))).fill(most: 100)
      client.reset
    end

    # A request with an octet changed.
    def almost_http(client)
      text = "#{post("Content-Length: 3\r\n")}abc"
      text.setbyte(@random.rand(text.bytesize), @random.rand(256))
      client.write(text).half_close.rest
    end

    # Framing that two servers may read in two ways; whatever is made of it, nobody else's answer may change.
    def smuggle(client)
      client.write("#{post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n#{get("/small?smuggled")}")
      client.half_close.rest
    end
  end
end
