# frozen_string_literal: true

require "test_helper"

# RFC 9112, 3.2 and RFC 9110, 7.2: the host that a request is for. Cases 89 to 104.
class TestHostAndTarget < HttpCase
  def get(host) = "GET / HTTP/1.1\r\nHost: #{host}\r\n\r\n".b

  def test_case_089_no_host
    assert_refused "GET / HTTP/1.1\r\n\r\n"
    assert_refused "GET http://a/ HTTP/1.1\r\n\r\n"
  end

  # RFC 9110, 4.2.1: an http URI has a host. Was served, with no SERVER_NAME to speak of.
  def test_case_090_two_hosts
    assert_refused "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"
    assert_refused "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"
  end

  def test_case_091_a_list_of_hosts
    assert_refused get("a, b")
    assert_refused get("a,b")
    assert_refused get("a b")
  end

  def test_case_092_user_information
    assert_refused get("u@a")
    assert_refused get("u:p@a")
  end

  def test_case_093_path_in_the_host
    assert_refused get("a/x")
    assert_refused get("a?x")
    assert_refused get("a#x")
    assert_refused get("a\\x")
  end

  def test_case_094_port_without_digits
    assert_refused get("a:xx")
    assert_refused get("a:-1")
    assert_refused get("a:80:80")
  end

  # RFC 9110, 4.2.1: an http URI has a host; RFC 9112, 3.3 lets a server refuse a request without.
  def test_an_empty_host
    assert_refused get("")
    assert_refused get(" \t")
    assert_refused get(":80")
    assert_refused "GET http:/// HTTP/1.1\r\nHost: \r\n\r\n"
    assert_refused "GET / HTTP/1.0\r\nHost:\r\n\r\n"
    assert_refused "OPTIONS * HTTP/1.1\r\nHost: \r\n\r\n"
    assert_refused "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"
    assert_refused "GET http://:80/x HTTP/1.1\r\nHost:\r\n\r\n"
  end

  def test_an_empty_host_field_says_nothing_where_the_target_names_one
    seen, = assert_served("GET http://target.test/x HTTP/1.1\r\nHost:\r\n\r\n")
    assert_equal %w[target.test /x], [seen["SERVER_NAME"], seen["PATH_INFO"]]
  end

  def test_case_095_ipv6_literal
    seen, = assert_served(get("[::1]:80"))
    assert_equal ["[::1]", "80"], [seen["SERVER_NAME"], seen["SERVER_PORT"]]
    seen, = assert_served(get("[::1]:8080"))
    assert_equal ["[::1]", "8080", "[::1]:8080"], [seen["SERVER_NAME"], seen["SERVER_PORT"], seen["HTTP_HOST"]]
    seen, = assert_served(get("[::1]"))
    assert_equal "[::1]", seen["SERVER_NAME"]
  end

  def test_case_096_http_1_0_without_host
    seen, = assert_served("GET / HTTP/1.0\r\n\r\n")
    refute_empty seen["SERVER_NAME"]
  end

  def test_case_097_the_targets_host_wins
    seen, = assert_served("GET http://target.test:81/a/b?c=d HTTP/1.1\r\nHost: field.test:82\r\n\r\n")
    assert_equal %w[target.test 81], [seen["SERVER_NAME"], seen["SERVER_PORT"]]
    assert_equal "target.test:81", seen["HTTP_HOST"]
    assert_equal ["/a/b", "c=d"], [seen["PATH_INFO"], seen["QUERY_STRING"]]
  end

  # RFC 9110, 7.4: an https resource has to be asked for over TLS.
  def test_an_https_resource_without_tls
    ["GET https://a/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET HTTPS://a HTTP/1.0\r\n\r\n",
     "POST https://a/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"].each do |bytes|
      assert_refused bytes, with: 421
    end
    assert_served "GET /https://a HTTP/1.1\r\nHost: a\r\n\r\n"
  end

  def test_case_098_get_asterisk
    assert_refused request("GET * HTTP/1.1")
  end

  def test_case_099_options_asterisk_is_the_apps
    app { |env| recorder.call(env) }
    seen, = assert_served(request("OPTIONS * HTTP/1.1"))
    assert_equal %w[OPTIONS *], [seen["REQUEST_METHOD"], seen["PATH_INFO"]]
  end

  def test_case_100_connect
    open_client do |client|
      assert_includes [400, 405, 501], client.ask("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n").status
    end
    assert_empty recorder.seen
  end

  def test_case_101_authority_form_is_only_for_connect
    assert_refused "GET a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"
    assert_refused "GET a HTTP/1.1\r\nHost: a\r\n\r\n"
  end

  def test_case_102_an_encoded_nul
    open_client do |client|
      response = client.ask(request("GET /%00 HTTP/1.1"))
      next assert_equal 400, response.status if recorder.seen.empty?

      assert_equal "/%00", recorder.seen.last["PATH_INFO"]
    end
  end

  def test_case_103_raw_octets_in_the_target
    assert_refused request("GET /\xFF HTTP/1.1")
    assert_refused request("GET /?\xC3\xA9 HTTP/1.1")
    assert_refused request("GET /\x7F HTTP/1.1")
    assert_refused request("GET /\x01 HTTP/1.1")
  end

  def test_case_104_oversized_target
    assert_refused request("GET /#{"a" * 102_400} HTTP/1.1"), with: [414, 431], deliveries: [:write]
    assert_refused request("GET /?#{"a" * 102_400} HTTP/1.1"), with: [414, 431], deliveries: [:write]
  end
end
