# frozen_string_literal: true

require "test_helper"

# RFC 9112, 6.1: which messages are in the chunked coding, and which ones must not be guessed about. Cases 54 to 68.
class TestTransferEncoding < HttpCase
  HELLO = "5\r\nhello\r\n0\r\n\r\n"

  def coded(*lines, body: HELLO) = request("POST / HTTP/1.1", *lines, body: body)

  def test_case_054_a_length_beside_a_coding
    assert_refused coded("Content-Length: 15", "Transfer-Encoding: chunked")
    assert_refused coded("Transfer-Encoding: chunked", "Content-Length: 15")
    assert_refused coded("Content-Length: 5", "Transfer-Encoding: identity"), with: [400, 501]
  end

  def test_case_055_smuggled_get_is_never_executed
    smuggled = "0\r\n\r\n#{request("GET /smuggled HTTP/1.1")}"
    lines = ["Content-Length: #{smuggled.bytesize}", "Transfer-Encoding: chunked"]
    [lines, lines.reverse].each do |order|
      assert_refused coded(*order, body: smuggled)
    end
  end

  def test_case_056_xchunked
    assert_refused coded("Transfer-Encoding: xchunked"), with: [400, 501]
    assert_refused coded("Transfer-Encoding: chunkedx"), with: [400, 501]
  end

  def test_case_057_chunked_is_not_last
    assert_refused coded("Transfer-Encoding: chunked, identity")
    assert_refused coded("Transfer-Encoding: chunked, gzip")
  end

  def test_case_058_a_coding_before_chunked
    assert_refused coded("Transfer-Encoding: gzip, chunked"), with: [400, 501]
    assert_refused coded("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"), with: [400, 501]
  end

  def test_case_059_chunked_twice
    assert_refused coded("Transfer-Encoding: chunked, chunked")
    assert_refused coded("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")
  end

  def test_case_060_two_lines
    assert_refused coded("Transfer-Encoding: chunked", "Transfer-Encoding: identity")
  end

  def test_case_061_identity
    assert_refused coded("Transfer-Encoding: identity"), with: [400, 501]
    assert_refused coded("Transfer-Encoding: identity", body: ""), with: [400, 501]
  end

  def test_case_062_empty
    assert_refused coded("Transfer-Encoding:")
    assert_refused coded("Transfer-Encoding: ", body: "")
  end

  def test_case_063_vertical_tab
    assert_refused coded("Transfer-Encoding: \vchunked")
  end

  def test_case_064_trailing_space
    seen, = assert_served(coded("Transfer-Encoding: chunked "))
    assert_equal "hello", seen.body
  end

  def test_case_065_a_codings_case_is_free
    seen, = assert_served(coded("Transfer-Encoding: Chunked"))
    assert_equal "hello", seen.body
  end

  def test_case_066_quoted
    assert_refused coded("Transfer-Encoding: \"chunked\""), with: [400, 501]
  end

  def test_case_067_an_underscore_frames_nothing
    open_client do |client|
      client.write(request("POST /first HTTP/1.1", "Transfer_Encoding: chunked", body: request("GET /next HTTP/1.1")))
      assert_equal ["POST /first ", "GET /next "], [client.response.body, client.response.body]
    end
  end

  def test_case_068_on_http_1_0
    bytes = request("POST / HTTP/1.0", "Transfer-Encoding: chunked", "Connection: keep-alive", body: HELLO)
    open_client do |client|
      client.write(bytes + request("GET /smuggled HTTP/1.1"))
      client.response
      assert_includes %i[closed reset], client.ending
    end
    refute_includes recorder.paths, "/smuggled"
  end
end
