# frozen_string_literal: true

require "test_helper"

# RFC 9110, 8.6 and RFC 9112, 6: bodies with a given length. Cases 40 to 53.
class TestContentLength < HttpCase
  def post(*lines, body: "hello") = request("POST / HTTP/1.1", *lines, body: body)

  def test_case_040_two_that_differ
    assert_refused post("Content-Length: 5", "Content-Length: 6", body: "hello!")
    assert_refused post("Content-Length: 6", "Content-Length: 5", body: "hello!")
  end

  def test_case_041_two_alike
    open_client do |client|
      response = client.ask(post("Content-Length: 5", "Content-Length: 5"))
      next assert_equal :closed, client.ending if response.status == 400

      assert_equal "POST / hello", response.body
      assert_equal "GET / ", client.ask(request).body
    end
  end

  def test_case_042_a_list_that_differs
    assert_refused post("Content-Length: 5, 6", body: "hello!")
  end

  def test_case_043_plus_sign
    assert_refused post("Content-Length: +5")
  end

  def test_case_044_negative
    assert_refused post("Content-Length: -1")
  end

  def test_case_045_hexadecimal
    assert_refused post("Content-Length: 0x5")
  end

  def test_case_046_underscore_among_the_digits
    assert_refused post("Content-Length: 1_0", body: "helloworld")
  end

  def test_case_047_two_numbers
    assert_refused post("Content-Length: 5 5")
  end

  def test_case_048_empty
    assert_refused post("Content-Length:")
    assert_refused post("Content-Length: ")
  end

  def test_case_049_leading_zeros
    open_client do |client|
      response = client.ask(post("Content-Length: 005"))
      next assert_equal :closed, client.ending if response.status == 400

      assert_equal "POST / hello", response.body
      assert_equal "GET / ", client.ask(request).body
    end
  end

  def test_case_050_more_than_64_bits_is_refused_without_waiting
    assert_refused post("Content-Length: #{2**64 + 5}"), with: [400, 413]
    assert_refused post("Content-Length: #{2**64 + 5}", body: ""), with: [400, 413]
    assert_refused post("Content-Length: #{"9" * 500}"), with: [400, 413]
  end

  def test_case_051_a_body_cut_short_is_never_a_success
    open_client do |client|
      client.write(post("Content-Length: 10", body: "short")).half_close
      assert_no_success client.rest
    end
    refute recorder.seen.any?(&:complete?), "the app took half a body for a whole one"
    assert_alive
  end

  def test_case_052_a_get_with_a_body_leaves_the_next_request_intact
    %w[/read /unread].each do |path|
      open_client do |client|
        client.write(request("GET #{path} HTTP/1.1", "Content-Length: 5", body: "hello"))
        client.write(request("GET /next HTTP/1.1"))
        assert_equal "GET #{path} #{"hello" if path == "/read"}", client.response.body
        assert_equal "GET /next ", client.response.body
      end
    end
  end

  def test_case_053_octets_beyond_the_length_are_the_next_request
    open_client do |client|
      client.write(post("Content-Length: 5", body: "hello#{request("GET /next HTTP/1.1")}"))
      assert_equal "POST / hello", client.response.body
      assert_equal "GET /next ", client.response.body
    end
    open_client do |client|
      client.write(post("Content-Length: 5", body: "hello\0surplus\r\n\r\n"))
      assert_equal ["POST / hello", 400], [client.response.body, client.response.status]
      assert_equal :closed, client.ending
    end
  end
end
