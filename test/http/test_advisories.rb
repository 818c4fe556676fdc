# frozen_string_literal: true

require "test_helper"

# Published advisories of other Ruby servers that no numbered case covers in full. Each names the advisory.
class TestAdvisories < HttpCase
  # CVE-2020-11076, -11077, CVE-2022-24790: obscured codings.
  def test_transfer_encoding_that_a_proxy_might_read_otherwise
    ["chunked;q=1", "chunked\v", "\fchunked", "chunked,", ",chunked", "chunked\u00a0", "x chunked"].each do |coding|
      bytes = request("POST / HTTP/1.1", "Transfer-Encoding: #{coding}", body: "0\r\n\r\n")
      assert_refused bytes, with: [400, 501]
    end
  end

  # CVE-2023-40175: a blank length beside a smuggled request; a trailer that runs into one.
  def test_blank_content_length_executes_nothing_of_the_body
    assert_refused request("POST / HTTP/1.1", "Content-Length: ", body: request("GET /smuggled HTTP/1.1"))
  end

  def test_a_trailer_is_never_read_as_a_request
    coded = "0\r\nX: y\r\n\r\n#{request("GET /next HTTP/1.1")}"
    open_client do |client|
      client.write(chunked(coded))
      assert_equal ["POST / ", "GET /next "], [client.response.body, client.response.body]
    end
    recorder.seen.clear
    assert_refused chunked("0\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
  end

  # CVE-2024-21647: extensions, each within bounds, that make a small body cost much.
  def test_extensions_of_many_chunks_are_bounded
    coded = "1;a=#{"x" * 1_000}\r\ny\r\n" * 20_000
    open_client do |client|
      client.write(chunked(coded))
      assert_includes [400, 413, 431], client.response.status
    end
    assert_empty recorder.seen
  end

  # A trailer is bounded as the head is.
  def test_the_trailer_is_bounded
    trailer = Array.new(2_000) { |i| "X#{i}: #{"y" * 1_000}\r\n" }.join
    open_client do |client|
      assert_includes [400, 413, 431], client.write(chunked("0\r\n#{trailer}")).response.status
    end
    assert_empty recorder.seen
  end

  # CVE-2024-45614: the proxy's field is not overwritten by the client's spelling of it.
  def test_a_clients_underscore_does_not_pass_for_the_proxys_dash
    [["X-Forwarded-For: 10.0.0.1", "X-Forwarded_For: 6.6.6.6"],
     ["X_Forwarded_For: 6.6.6.6", "X-Forwarded-For: 10.0.0.1"],
     ["X-Forwarded-Proto: http", "X_Forwarded-Proto: https", "X-Forwarded-For: 10.0.0.1"]].each do |lines|
      seen, = assert_served(request("GET / HTTP/1.1", *lines))
      assert_equal "10.0.0.1", seen["HTTP_X_FORWARDED_FOR"], lines.inspect
      refute_equal "https", seen["HTTP_X_FORWARDED_PROTO"]
    end
  end

  # CVE-2009-3287: the peer's address is the socket's.
  def test_no_field_changes_the_peer
    seen, = assert_served(request("GET / HTTP/1.1", "X-Forwarded-For: 6.6.6.6", "Client-IP: 6.6.6.6"))
    assert_equal "127.0.0.1", seen["REMOTE_ADDR"]
  end

  # CVE-2026-47736, -47737: no PROXY line is taken unless it was asked for.
  def test_a_proxy_line_is_no_request
    line = "PROXY TCP4 6.6.6.6 127.0.0.1 1 80\r\n"
    assert_refused line + request
    assert_refused "PROXY TCP4 6.6.6.6\n#{request}"
    open_client do |client|
      client.ask(request)
      assert_equal 400, client.ask(line + request).status
      assert_includes %i[closed reset], client.ending
    end
    assert_equal 1, recorder.seen.size
  end

  # CVE-2025-26803: a method that is not a token.
  def test_invalid_methods
    "\"(),/:;<=>?@[\\]{}\x7F\x01\x80\xFF".b.each_char do |octet|
      assert_refused request("G#{octet}T / HTTP/1.1".b), deliveries: [:write]
    end
  end

  # protocol-http1, CVE-2023-38697: lengths that Integer() takes.
  def test_lengths_that_a_lenient_reader_takes
    ["+5", "0x5", "5_", "0b101", "0o5", "5.0", "5e0", "\u0665", "5;", "5,"].each do |length|
      assert_refused request("POST / HTTP/1.1", "Content-Length: #{length}", body: "hello")
    end
  end

  # WEBrick, CVE-2009-4492 and -2017-10784: no escape sequence of a client's reaches a terminal by way of a log.
  def test_no_raw_escape_gets_past_the_parser
    assert_refused request("GET /\e]2;owned\a HTTP/1.1")
    assert_refused request("GET / HTTP/1.1", "User-Agent: \e[31mred")
  end
end
