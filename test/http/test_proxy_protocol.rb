# frozen_string_literal: true

require "test_helper"
require_relative "../support/proxy_headers"

# --proxy-protocol: each connection of a trusted peer begins with a PROXY header, whose client counts from then on.
class TestProxyProtocol < HttpCase
  include ProxyHeaders

  TRUST = %w[127.0.0.1 10.0.0.0/8].freeze
  STRANGER = "127.0.0.2"
  MOST = 2048 # octets of a block

  # Headers that name no client, each with whether the proxy then speaks for itself.
  NAMELESS = {
    "PROXY UNKNOWN\r\n" => false, "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n" => false,
    "PROXY UNKNOWN #{"x" * 91}\r\n" => false,
    ProxyHeaders.local => true, ProxyHeaders.local("any\0thing") => true, ProxyHeaders.local("x" * MOST) => true,
    ProxyHeaders.block(0x20, 0x11, "") => true,
    ProxyHeaders.block(0x21, 0, "") => false, ProxyHeaders.block(0x21, 0x31, "/x\0" * 72) => false,
    ProxyHeaders.block(0x21, 0x01, ProxyHeaders.record(4, "")) => false
  }.freeze

  # Octets that are not a header, whatever follows.
  MALFORMED = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\nPROXY UNKNOWN\r\n", "proxy UNKNOWN\r\n", "PROXY\r\n", "PROXY \r\n",
    "PROXYUNKNOWN\r\n", "PROXY  UNKNOWN\r\n", "PROXY unknown\r\n", "PROXY UNKNOWNX\r\n", "PROXY UNKNOWN\n",
    "PROXY UNKNOWN\rx", "PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4\r\n", "PROXY TCP4 1.2.3.4\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
    "PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n", "PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n",
    "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 ::1 1 2\r\n", "PROXY TCP6 ::1 1.2.3.4 1 2\r\n",
    "PROXY TCP4 1.2.3.04 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 +2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 x 2\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 000000\r\n", "PROXY TCP6 ::1::2 ::1 1 2\r\n", "PROXY TCP6 fe80::1%lo ::1 1 2\r\n",
    "PROXY TCP4\t1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n", "PROXY TCP4 a 1.2.3.4 1 2\r\n",
    "PROXY UNKNOWN #{"x" * 92}\r\n", "PROXY UNKNOWN #{"x" * 92}", "PROXY TCP4 #{"1" * 200}", "\r\n\r\n\0\r\nQUIT\r",
    ProxyHeaders.block(0x11, 0x11, "\0" * 12), ProxyHeaders.block(0x31, 0x11, "\0" * 12),
    ProxyHeaders.block(0x22, 0x11, "\0" * 12), ProxyHeaders.block(0x2f, 0x11, "\0" * 12),
    ProxyHeaders.block(0x21, 0x41, "\0" * 300), ProxyHeaders.block(0x21, 0x13, "\0" * 12),
    ProxyHeaders.block(0x21, 0x11, "\0" * 11), ProxyHeaders.block(0x21, 0x21, "\0" * 35),
    ProxyHeaders.block(0x21, 0x31, "\0" * 215), ProxyHeaders.block(0x21, 0x11, "", 0),
    ProxyHeaders.block(0x21, 0x11, "", 11), ProxyHeaders.block(0x21, 0x11, "", MOST + 1),
    ProxyHeaders.block(0x20, 0, "", 65_535),
    ProxyHeaders.v2("192.0.2.1", "\0"), ProxyHeaders.v2("192.0.2.1", "\4\0"),
    ProxyHeaders.v2("192.0.2.1", "\4\0\1"), ProxyHeaders.v2("192.0.2.1", "\4\xff\xff"),
    ProxyHeaders.v2("192.0.2.1", "#{ProxyHeaders.tls}\x20")
  ].map(&:b).freeze

  def self.server_options = { trust: TRUST, proxy_protocol: true }

  def test_the_named_client_is_the_peer
    { v1("192.0.2.1") => "192.0.2.1", v1("2001:DB8::1") => "2001:db8::1", v1("0.0.0.0") => "0.0.0.0",
      v1("255.255.255.255", "255.255.255.255") => "255.255.255.255", v1("::ffff:192.0.2.1") => "192.0.2.1",
      "PROXY TCP4 192.0.2.1 192.0.2.2 0 65535\r\n" => "192.0.2.1",
      v2("192.0.2.1") => "192.0.2.1", v2("2001:db8::1") => "2001:db8::1", v2("::ffff:192.0.2.1") => "192.0.2.1",
      v2("192.0.2.1", record(4, "") + record(3, "abcd") + record(0xee, "x" * 200)) => "192.0.2.1",
      v2("192.0.2.1", record(4, "x" * (MOST - 15))) => "192.0.2.1",
      block(0x21, 0x12, v2("192.0.2.1").byteslice(16..)) => "192.0.2.1" }.each do |header, address|
      seen, = assert_served(header + request)
      assert_equal address, seen["REMOTE_ADDR"], header
    end
  end

  def test_a_header_that_names_nobody_leaves_the_peer
    NAMELESS.each do |header, trusted|
      seen, = assert_served(header + request("GET / HTTP/1.1", "X-Forwarded-For: 192.0.2.1"))
      assert_equal trusted ? "192.0.2.1" : "127.0.0.1", seen["REMOTE_ADDR"], header
      assert_equal trusted, seen.env.key?("HTTP_X_FORWARDED_FOR")
    end
  end

  def test_whatever_pieces_it_comes_in
    [v1("192.0.2.1"), v1("2001:db8::1"), v2("192.0.2.1", tls), local("abc"), "PROXY UNKNOWN\r\n"].each do |header|
      open_client { |client| assert_equal 200, client.dribble(header + request).response.status, header }
      (1...header.bytesize).each do |cut|
        open_client do |client|
          client.write(header.byteslice(0, cut)).write(header.byteslice(cut..) + request)
          assert_equal 200, client.response.status, header
        end
      end
    end
    assert_equal %w[192.0.2.1 2001:db8::1 127.0.0.1],
                 recorder.seen.map { |seen| seen["REMOTE_ADDR"] }.uniq
  end

  def test_it_counts_for_all_requests_of_the_connection
    open_client do |client|
      client.write(v1("192.0.2.1") + request * 3)
      3.times { client.response }
      assert_equal 400, client.ask(v1("192.0.2.2") + request).status
    end
    assert_equal(%w[192.0.2.1] * 3, recorder.seen.map { |seen| seen["REMOTE_ADDR"] })
  end

  def test_an_empty_line_and_a_body_may_follow
    seen, = assert_served("#{v2("192.0.2.1")}\r\n#{request("POST / HTTP/1.1", "Content-Length: 3", body: "abc")}")
    assert_equal ["192.0.2.1", "abc"], [seen["REMOTE_ADDR"], seen.body]
  end

  # Whom a proxy names speaks from then on, and is trusted or not.
  def test_fields_count_if_the_named_client_is_trusted
    lines = ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"]
    { "10.0.0.1" => %w[192.0.2.7 https 192.0.2.7], "192.0.2.1" => ["192.0.2.1", "http", nil] }.each do |client, found|
      [v1(client), v2(client)].each do |header|
        seen, = assert_served(header + request("GET / HTTP/1.1", *lines))
        assert_equal found, seen.env.values_at("REMOTE_ADDR", "rack.url_scheme", "HTTP_X_FORWARDED_FOR"), header
      end
    end
  end

  def test_a_client_that_speaks_tls_with_the_proxy
    { tls => "https", tls(7) => "https", tls(0) => "http", tls(6) => "http", record(0x20, "") => "http",
      record(4, "abc") + tls => "https" }.each do |records, scheme|
      seen, = assert_served(v2("192.0.2.1", records) + request)
      assert_equal scheme, seen["rack.url_scheme"], records.inspect
    end
    seen, = assert_served(v2("10.0.0.1", tls) + request("GET / HTTP/1.1", "X-Forwarded-Proto: http"))
    assert_equal "http", seen["rack.url_scheme"]
    seen, = assert_served(local(tls) + request)
    assert_equal "http", seen["rack.url_scheme"]
  end

  def test_what_is_no_header_ends_the_connection_without_a_word
    before = unproxied
    told = told_of do
      MALFORMED.each do |octets|
        open_client { |client| assert_includes %i[closed reset], client.write(octets).ending, octets.inspect }
      end
      assert_serves
    end
    assert_equal 1, recorder.seen.size
    assert_equal MALFORMED.size, unproxied - before
    assert_operator told.scan("without a PROXY header").size, :<=, 1
  end

  # A health check of the listener.
  def test_a_connection_that_says_nothing_is_no_fault
    before = unproxied
    ["", "PROXY TCP4", SIGNATURE].each do |octets|
      open_client { |client| assert_equal :closed, client.write(octets).half_close.ending }
    end
    assert_equal before, unproxied
  end

  def test_a_stranger_is_served_as_without_a_header
    open_client(from: STRANGER) { |client| assert_equal 200, client.ask(request).status }
    assert_equal STRANGER, recorder.seen.last["REMOTE_ADDR"]
    [v1("10.0.0.1"), v2("10.0.0.1")].each do |header|
      open_client(from: STRANGER) { |client| assert_equal 400, client.write(header + request).response.status }
    end
    assert_equal 1, recorder.seen.size
  end

  private

  def unproxied = self.class.server.stats.fetch(:unproxied)

  # What is written to standard error meanwhile.
  def told_of
    before, $stderr = $stderr, StringIO.new
    yield
    $stderr.string
  ensure
    $stderr = before
  end

  def assert_serves = assert_equal(200, open_client { |client| client.ask(v1("192.0.2.1") + request) }.status)
end
