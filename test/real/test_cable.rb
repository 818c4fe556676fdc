# frozen_string_literal: true

require "json"
require_relative "../support/wire_client"
require_relative "real"

# Action Cable, on every engine: its WebSockets are hijacked connections that its own threads drive.
module CableChecks
  # A WebSocket's client: text frames of less than 64 KB, and a Close frame.
  class Client
    KEY = "dGhlIHNhbXBsZSBub25jZQ=="
    ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" # RFC 6455, 1.3
    PINGS = 20 # one each 3 s
    CHANNEL = { identifier: { channel: "NewsChannel" }.to_json }.freeze

    def initialize(port)
      @wire = WireClient.new(port)
      response = @wire.write("GET /cable HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
                             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: #{KEY}\r\n\r\n").response
      raise "#{response.status} with #{response.fields}" unless response["sec-websocket-accept"] == ACCEPT
    end

    # As clients do, it waits for the welcome first: Action Cable may lose what comes before.
    def subscribe
      message_that { |found| found["type"] == "welcome" }
      say(command: "subscribe", **CHANNEL)
      message_that { |found| found["type"] == "confirm_subscription" }
      self
    end

    def tell(text) = say(command: "message", data: { action: "tell", text: text }.to_json, **CHANNEL)

    # The next message that was broadcast.
    def news
      message_that { |found| found.key?("identifier") }["message"]
    end

    # Status of the Close frame that comes next but for messages; then the connection's end.
    def farewell
      opcode, octets = frame
      opcode, octets = frame until opcode == 8
      @wire.write([0x88, 0x82, 0].pack("CCN") + octets.byteslice(0, 2))
      [octets.unpack1("n"), @wire.ending]
    end

    def close = @wire.close

    private

    def say(**command)
      text = command.to_json
      length = text.bytesize < 126 ? [0x80 | text.bytesize].pack("C") : [0x80 | 126, text.bytesize].pack("Cn")
      @wire.write("\x81".b + length + [0].pack("N") + text)
    end

    # Pings keep the connection from being silent, so they are counted.
    def message_that
      PINGS.times do
        found = JSON.parse(frame.last)
        return found if yield found
      end
      raise "nothing but #{PINGS} other messages"
    end

    # [opcode, octets]
    def frame
      first, length = @wire.exactly(2).unpack("CC")
      length = @wire.exactly(2).unpack1("n") if length == 126
      [first & 15, @wire.exactly(length)]
    end
  end

  def setup
    super
    @clients = []
  end

  def teardown
    @clients.each(&:close)
    super
  end

  # More WebSockets than threads; requests are answered beside them.
  def test_news_from_a_client_or_a_request_reaches_everyone
    clients = Array.new(12) { subscriber }
    assert_equal "204", request(Net::HTTP::Post.new("/news").tap { |post| post.body = "posted" }).code
    assert_equal ["posted"] * 12, clients.map(&:news)
    clients.first.tell("told")
    assert_equal ["told"] * 12, clients.map(&:news)
    assert_equal "Hello, world!", get("/").body
  end

  # The last one.
  def test_term_ends_it
    clients = Array.new(3) { subscriber }
    Process.kill("TERM", server.pid)
    assert_equal [[1001, :closed]] * 3, clients.map(&:farewell)
    super
    assert_match(/left open: 3 closed with 1001/, server.log)
  end

  private

  def subscriber
    Client.new(server.port).subscribe.tap { |client| @clients << client }
  end
end

# The adapter keeps messages in one process, so without workers.
class CableTest < Real::ServedTest
  for_each Real::ALONE, Real::CABLE, CableChecks
end
