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

  # 40 responses of about 50 octets, half of a step each, on one line of 2,000 octets a second.
  def test_small_responses_share_their_line
    result = Cuttle::Load::TestServers.open(:null) do |server|
      Cuttle::Load.run(server.url, threads: 1, requests: 40, connections: 1, slow_read: 2000)
    end

    assert_equal 40, result.responses
    assert_operator result.latency.sum, :>=, 0.9e9 * result.octets / 2000
  end

  # A response of 8 MB at 40 MB/s. With 64 kB at most in each 50 ms it would take six seconds.
  def test_a_thick_line
    assert_equal [1, 0], answering("y" * 8_000_000) { |url| large(url) }
  end

  def large(url)
    result = Cuttle::Load.run(url, threads: 1, requests: 1, connections: 1, slow_read: 40_000_000, timeout: 5)
    [result.responses, result.failures]
  end

  # Yields the URL of a server that answers one request with +body+.
  def answering(body)
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { loop { listener.accept.then { |socket| answer(socket, body) } } }
    yield "http://127.0.0.1:#{listener.local_address.ip_port}/"
  ensure
    thread&.kill
    listener&.close
  end

  def answer(socket, body)
    socket.readpartial(1000)
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n", body)
  rescue EOFError
    socket.close
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
