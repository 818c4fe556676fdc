# frozen_string_literal: true

require "test_helper"

# RFC 9112, 9 and RFC 9110, 7.8 and 10.1.1: a connection's life from request to request. Cases 105 to 113.
class TestConnection < HttpCase
  def test_case_105_three_pipelined_are_answered_in_order
    paths = %w[/1 /2 /3]
    open_client do |client|
      client.write(paths.map { |path| request("GET #{path} HTTP/1.1") }.join)
      assert_equal paths.map { |path| "GET #{path} " }, Array.new(3) { client.response.body }
    end
    assert_equal paths, recorder.paths
  end

  def test_many_pipelined_with_bodies_are_answered_in_order
    count = 200
    open_client do |client|
      client.write(Array.new(count) { |i| request("POST /#{i} HTTP/1.1", "Content-Length: 3", body: "abc") }.join)
      count.times { |i| assert_equal "POST /#{i} abc", client.response.body }
    end
  end

  def test_case_106_what_follows_a_400_never_runs
    open_client do |client|
      client.write([request("GET /1 HTTP/1.1"), request("GET  /2 HTTP/1.1"), request("GET /3 HTTP/1.1")].join)
      assert_equal [200, 400], [client.response.status, client.response.status]
      assert_includes %i[closed reset], client.ending
    end
    assert_equal ["/1"], recorder.paths
  end

  def test_case_107_what_follows_a_close_never_runs
    assert_closes_after_the_first "Connection: close"
  end

  def test_close_counts_among_other_options_and_in_any_case
    assert_closes_after_the_first "Connection: foo, Close"
    assert_closes_after_the_first "Connection: foo", "Connection: CLOSE"
    assert_closes_after_the_first "Connection: keep-alive, close"
  end

  def test_case_108_http_1_0_closes_unless_asked_not_to
    open_client do |client|
      client.ask("GET / HTTP/1.0\r\n\r\n")
      assert_equal :closed, client.ending
    end
    open_client do |client|
      2.times do
        response = client.ask("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
        assert_equal "keep-alive", response["connection"].to_s.downcase
      end
    end
  end

  def test_case_109_a_client_that_awaits_a_100_is_answered
    interim = []
    open_client do |client|
      client.write(request("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 5"))
      assert client.heard?(PATIENCE), "neither a 100 nor a final status"
      next if answered_at_once?(client, interim)

      client.write("hello")
      assert_equal "POST / hello", client.final_response { |response| interim << response.status }.body
    end
    assert_includes [[], [100]], interim
  end

  def test_case_109_no_100_where_the_body_is_already_there
    open_client do |client|
      client.write(request("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 5", body: "hello"))
      assert_equal "POST / hello", client.final_response.body
      assert_equal "GET / ", client.ask(request).body
    end
  end

  def test_case_110_http_1_0_gets_no_100
    open_client do |client|
      client.write(request("POST / HTTP/1.0", "Expect: 100-continue", "Content-Length: 5"))
      refute client.heard?(0.3), "an interim response to HTTP/1.0: #{client.buffered}"
      assert_equal "POST / hello", client.write("hello").response.body
    end
  end

  def test_case_111_an_unknown_expectation
    open_client do |client|
      client.write(request("POST / HTTP/1.1", "Expect: a miracle", "Content-Length: 5", body: "hello"))
      assert_includes [200, 417], client.response.status
    end
  end

  def test_case_112_an_upgrade_that_nobody_offers
    lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    open_client do |client|
      assert_equal 200, client.write(request("GET / HTTP/1.1", *lines)).response.status
      assert_equal 200, client.ask(request).status
    end
  end

  def test_case_113_a_half_closed_client_is_answered
    open_client do |client|
      assert_equal "GET / ", client.write(request).half_close.response.body
      assert_equal :closed, client.ending
    end
    open_client do |client|
      client.write(request("GET /1 HTTP/1.1") + request("GET /2 HTTP/1.1")).half_close
      assert_equal ["GET /1 ", "GET /2 "], [client.response.body, client.response.body]
      assert_equal :closed, client.ending
    end
  end

  private

  def assert_closes_after_the_first(*lines)
    recorder.seen.clear
    open_client do |client|
      client.write(request("GET /1 HTTP/1.1", *lines) + request("GET /2 HTTP/1.1"))
      assert client.response.close?, "no Connection: close"
      assert_includes %i[closed reset], client.ending
    end
    assert_equal ["/1"], recorder.paths
  end

  # Notes a first interim response; true where the first was final.
  def answered_at_once?(client, interim)
    response = client.response
    interim << response.status if response.interim?
    !response.interim?
  end
end
