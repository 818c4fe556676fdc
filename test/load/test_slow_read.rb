# frozen_string_literal: true

require "test_helper"

# A client behind a thin line.
class TestLoadSlowRead < Minitest::Test
  BODY = "x" * 20_000
  ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}"

  def load(**options)
    Cuttle::Load::TestServers.open(:null, answer: ANSWER) do |server|
      Cuttle::Load.run(server.url, threads: 1, **options)
    end
  end

  def test_it_takes_as_long_as_its_line_is_thin
    result = load(requests: 4, connections: 2, slow_read: 20_000)

    assert_equal [4, 0], [result.responses, result.failures]
    assert_operator result.latency.min, :>=, 0.9e9
    assert_operator result.transfer.min, :>=, 0.8e9
  end

  def test_in_an_open_loop
    result = load(rate: 20, duration: 0.5, slow_read: 50_000, keep_alive: false)

    assert_equal [10, 0], [result.responses, result.failures]
    assert_operator result.latency.min, :>=, 0.3e9
  end

  def test_a_reader_that_is_too_slow_times_out
    result = load(requests: 2, connections: 2, slow_read: 100, timeout: 0.3)

    assert_equal 2, result.errors[:timeout]
  end

  # Fewer octets a second than looks.
  def test_an_octet_at_a_time
    result = Cuttle::Load::TestServers.open(:null, answer: "HTTP/1.1 204 \r\n\r\n") do |server|
      Cuttle::Load.run(server.url, threads: 1, requests: 1, connections: 1, slow_read: 15)
    end

    assert_equal 1, result.responses
    assert_operator result.latency.min, :>=, 0.9e9
  end
end
