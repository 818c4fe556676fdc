# frozen_string_literal: true

require "test_helper"

# RFC 9112, 2.2, 2.3 and 3: where a message begins, its version, its method. Cases 1 to 16.
class TestRequestLine < HttpCase
  def test_case_001_one_leading_crlf_is_skipped_or_refused
    open_client do |client|
      assert_includes [200, 400], client.ask("\r\n#{request}").status
    end
  end

  def test_case_002_double_space
    assert_refused request("GET  / HTTP/1.1")
    assert_refused request("GET /  HTTP/1.1")
  end

  def test_case_003_tabs_between_the_parts
    assert_refused request("GET\t/\tHTTP/1.1")
    assert_refused request("GET /\tHTTP/1.1")
  end

  def test_case_004_leading_space
    assert_refused request(" GET / HTTP/1.1")
  end

  def test_case_005_space_after_the_version
    assert_refused request("GET / HTTP/1.1 ")
  end

  def test_case_006_bare_lf_line_ends
    assert_refused "GET / HTTP/1.1\nHost: a\n\n"
    assert_refused "GET / HTTP/1.1\nHost: a\r\n\r\n"
    assert_refused "GET / HTTP/1.1\r\nHost: a\n\n"
    assert_refused "GET / HTTP/1.1\r\nHost: a\r\n\n"
  end

  def test_case_007_bare_cr_line_ends
    assert_refused "GET / HTTP/1.1\rHost: a\r\n\r\n"
    assert_refused "GET / HTTP/1.1\r\rHost: a\r\n\r\n"
  end

  def test_case_008_http_0_9
    ["GET /\r\n", "GET /\r\n\r\n"].each do |bytes|
      open_client do |client|
        status = client.write(bytes).half_close.rest[%r{\AHTTP/1\.[01] (\d+) }, 1]
        assert_includes [nil, "400"], status, context(bytes)
      end
    end
    assert_empty recorder.seen
  end

  def test_case_009_a_minor_version_from_the_future
    open_client do |client|
      response = client.ask(request("GET / HTTP/1.2"))
      assert_includes [200, 400, 505], response.status
      next assert_equal :closed, client.ending unless response.status == 200

      assert_equal "HTTP/1.1", recorder.seen.last["SERVER_PROTOCOL"]
      assert_equal 200, client.ask(request).status, "not kept alive, as 1.1 is"
    end
  end

  def test_case_010_textual_http_2
    assert_refused request("GET / HTTP/2.0"), with: [400, 505]
    assert_refused request("GET / HTTP/2"), with: [400, 505]
  end

  # RFC 9110, 15.6.6: a 505 should say which protocols are supported.
  def test_a_version_that_is_not_served_is_told_which_are
    %w[HTTP/2.0 HTTP/9.9].each do |version|
      open_client do |client|
        response = client.ask(request("GET / #{version}"))
        assert_equal 505, response.status
        assert_match(%r{HTTP/1\.1 and HTTP/1\.0$}, response.body)
      end
    end
  end

  def test_case_011_leading_zero_in_the_version
    assert_refused request("GET / HTTP/01.1")
    assert_refused request("GET / HTTP/1.01")
  end

  def test_case_012_lower_case_protocol_name
    assert_refused request("GET / http/1.1")
  end

  def test_case_013_nul_in_the_method
    assert_refused request("G\0T / HTTP/1.1")
    assert_refused request("\0GET / HTTP/1.1")
  end

  def test_case_014_an_unknown_token_is_the_apps_to_judge
    assert_app_judges "FROB"
    assert_app_judges "M-SEARCH"
  end

  def test_a_method_may_be_any_token
    assert_app_judges "Frob!#$%&'*+-.^_`|~1"
  end

  def test_case_015_huge_method
    assert_refused request("#{"A" * 65_536} / HTTP/1.1"), with: [400, 501], deliveries: [:write]
    assert_refused "A" * 65_536, with: [400, 501], deliveries: [:write]
  end

  def test_case_016_http_2_preface
    assert_refused "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", with: [400, 505]
  end

  # The peer says no more, and is not waited for: else it would get a 408, when its time is over.
  def test_a_line_that_can_not_become_valid_is_refused_at_once
    ["GE\0", " GET", "G{T", "GET  /", "GET /\x01", "GET /\n", "GET / HTXP", "GET / HTTP/1.1 ", "GET / HTTP/1.1\n",
     "GET / HTTP/1.1\rH", "\r\n\r", "\rG"].each { |bytes| assert_refused bytes }
  end

  # RFC 9110, 9.3.2. What is wrong may come in the request line itself, or behind it.
  def test_a_head_request_that_is_refused_gets_no_body
    line = "HEAD / HTTP/1.1"
    ["\r\n#{line}\r\n\r\n", "HEAD * HTTP/1.1\r\n", "HEAD / HTTP/1.1\n", "HEAD / HTTP/2.0", request(line, "Foo : x"),
     request(line, "Expect: x"), request(line, "Transfer-Encoding: chunked", body: "x")].each do |bytes|
      open_client do |client|
        assert_includes 400..505, client.write(bytes).response(head: true).status, bytes
        assert_includes %i[closed reset], client.ending, bytes # which complains of surplus octets
      end
    end
    assert_empty recorder.seen
  end

  def test_an_unknown_protocol_is_refused_at_once
    assert_refused "PRI * HTTP/2.0", with: 505
    assert_refused "A" * 65, with: 501
  end

  private

  def assert_app_judges(method)
    recorder.seen.clear
    response = open_client { |client| client.ask(request("#{method} / HTTP/1.1")) }
    assert_includes [200, 501], response.status, method
    assert_equal method, recorder.seen.last["REQUEST_METHOD"] if response.status == 200
  end
end
