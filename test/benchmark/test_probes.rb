# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# Probes, against servers whose answers are known.
class TestBenchmarkProbes < Minitest::Test
  OK = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
  BUSY = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

  def test_times_are_grouped_by_status
    turn = 0
    answer = -> { (turn += 1).even? ? BUSY : OK }
    times = serve(answer) { |port| Bench::Probes.new(port, rate: 100, timeout: 10).run(1) }
    assert_equal [200, 503], times.keys.sort
    assert_in_delta times[200].size, times[503].size, 1
    assert_operator times.values.sum(&:size), :>, 50
    assert times.values.flatten.all?(&:positive?)
  end

  def test_silence_and_a_connection_that_ends_are_failures
    assert_equal [:timeout], serve(-> { "" }) { |port| Bench::Probes.new(port, rate: 50, timeout: 0.2).run(0.5) }.keys
    assert_equal [:failed], serve(-> {}) { |port| Bench::Probes.new(port, rate: 50, timeout: 10).run(0.3) }.keys
    refused = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
    assert_equal [:failed], Bench::Probes.new(refused, rate: 50, timeout: 10).run(0.2).keys
  end

  private

  # A server that gives each request the block's text: "" is silence, nil closes.
  def serve(answer)
    listener = TCPServer.new("127.0.0.1", 0)
    clients = []
    thread = Thread.new do
      loop { (clients << listener.accept) && Thread.new(clients.last) { |client| converse(client, answer) } }
    rescue IOError
      nil
    end
    yield listener.addr[1]
  ensure
    [listener, *clients].each(&:close)
    thread.join
  end

  def converse(client, answer)
    while client.readpartial(4096)
      text = answer.call
      client.write(text.to_s)
      return client.close if text.nil? || text == BUSY
    end
  rescue IOError, SystemCallError
    client.close
  end
end
