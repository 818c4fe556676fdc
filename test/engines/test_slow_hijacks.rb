# frozen_string_literal: true

require "test_helper"

# An app that takes the socket over gets it when the queued octets are sent. It waits for a slow client for at most
# --write-timeout.
class TestSlowHijacks < Minitest::Test
  include Serving

  HINTS = Array.new(100, { "link" => "x" * 80_000 }.freeze).freeze # more than the system takes for a client
  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  # It did not wait at all, and failed.
  Serving::ENGINES.each do |engine|
    define_method("test_without_a_timeout_under_#{engine}") do
      queued = Queue.new
      serving(app(queued), engine: engine, write_timeout: "none", early_hints: true) do |server|
        WireClient.open(server.port, receive_buffer: 4_096) do |client|
          client.write(ASK)
          queued.pop
          assert_equal "taken", client.hurry(after: 500_000).final_response.body
          assert_equal :closed, client.ending
        end
      end
    end
  end

  private

  def app(queued)
    lambda do |env|
      HINTS.each { |hint| env["rack.early_hints"].call(hint) }
      queued << true
      socket = env["rack.hijack"].call
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken")
      socket.close
      [200, {}, []]
    end
  end
end
