# frozen_string_literal: true

require "test_helper"

# RFC 9110, 5 and RFC 9112, 5: field lines, and what of them reaches the app. Cases 17 to 39.
class TestFields < HttpCase
  # What a token may not hold (RFC 9110, 5.6.2), the colon left out, as it ends a name.
  NOT_TCHAR = "\"(),/;<=>?@[\\]{} ".chars.freeze

  # Every control octet but the two that white space and line ends make use of (cases 25, 26 and 32).
  CONTROLS = [*1..8, 0x0b, 0x0c, *0x0e..0x1f, 0x7f].map(&:chr).freeze

  def test_case_017_space_before_the_colon
    assert_refused request("GET / HTTP/1.1", "Foo : x")
    assert_refused request("GET / HTTP/1.1", "Foo\t: x")
  end

  def test_case_018_space_before_the_first_field
    assert_refused "GET / HTTP/1.1\r\n Foo: x\r\nHost: a\r\n\r\n"
    assert_refused "GET / HTTP/1.1\r\n Host: a\r\n\r\n"
    assert_refused "GET / HTTP/1.1\r\n\r \nHost: a\r\n\r\n"
  end

  def test_case_019_obs_fold
    assert_refused request("GET / HTTP/1.1", "Foo: a\r\n b")
    assert_refused request("GET / HTTP/1.1", "Foo: a\r\n\tb")
  end

  def test_case_020_folded_transfer_encoding
    assert_refused request("POST / HTTP/1.1", "Transfer-Encoding:\r\n chunked", body: "0\r\n\r\n")
  end

  def test_case_021_no_colon
    assert_refused request("GET / HTTP/1.1", "Foo")
    assert_refused request("GET / HTTP/1.1", "Foo bar")
  end

  def test_case_022_empty_name
    assert_refused request("GET / HTTP/1.1", ": x")
    assert_refused request("GET / HTTP/1.1", ":")
  end

  def test_case_023_nul_in_a_name
    assert_refused request("GET / HTTP/1.1", "Fo\0o: x")
  end

  def test_case_024_nul_in_a_value
    assert_refused request("GET / HTTP/1.1", "Foo: a\0b")
  end

  def test_case_025_cr_in_a_value
    assert_refused request("GET / HTTP/1.1", "Foo: a\rb")
    assert_refused request("GET / HTTP/1.1", "Foo: a\r\rBar: b")
  end

  def test_case_026_lf_in_a_value
    assert_refused request("GET / HTTP/1.1", "Foo: a\nBar: b")
  end

  def test_case_027_controls_in_a_value
    CONTROLS.each { |octet| assert_refused request("GET / HTTP/1.1", "Foo: a#{octet}b"), deliveries: [:write] }
  end

  def test_case_028_no_token_in_a_name
    NOT_TCHAR.each { |octet| assert_refused request("GET / HTTP/1.1", "Fo#{octet}o: x"), deliveries: [:write] }
  end

  def test_case_029_eight_bit_name
    assert_refused request("GET / HTTP/1.1", "F\xC3\xB6o: x")
    assert_refused request("GET / HTTP/1.1", "\xFF: x")
  end

  def test_case_030_obs_text_in_a_value_arrives_intact
    seen, = assert_served(request("GET / HTTP/1.1", "Foo: \xE9\x80\xFF x"))
    assert_equal "\xE9\x80\xFF x".b, seen["HTTP_FOO"].b
  end

  def test_case_031_empty_value
    seen, = assert_served(request("GET / HTTP/1.1", "Foo:", "Bar: \t "))
    assert_equal ["", ""], [seen["HTTP_FOO"], seen["HTTP_BAR"]]
  end

  def test_case_032_tabs_around_a_value
    seen, = assert_served(request("GET / HTTP/1.1", "Foo:\tx \ty\t ", "Bar: \t z"))
    assert_equal ["x \ty", "z"], [seen["HTTP_FOO"], seen["HTTP_BAR"]]
  end

  def test_case_033_content_length_with_an_underscore_frames_nothing
    open_client do |client|
      client.write(request("POST /first HTTP/1.1", "Content_Length: 5", body: request("GET /next HTTP/1.1")))
      assert_equal ["POST /first ", "GET /next "], [client.response.body, client.response.body]
    end
    assert_includes [nil, "0"], recorder.seen.first["CONTENT_LENGTH"]
  end

  def test_case_034_a_dash_wins_over_an_underscore
    [["A-B: dash", "A_B: underscore"], ["A_B: underscore", "A-B: dash"]].each do |lines|
      seen, = assert_served(request("GET / HTTP/1.1", *lines))
      assert_equal "dash", seen["HTTP_A_B"], lines.inspect
    end
  end

  def test_case_035_a_version_field_leaves_the_protocol_alone
    seen, = assert_served(request("GET / HTTP/1.1", "Version: x"))
    assert_equal "HTTP/1.1", seen["SERVER_PROTOCOL"]
  end

  # As in test_request_line.rb: the peer says no more.
  def test_a_field_line_that_can_not_become_valid_is_refused_at_once
    ["Foo : x", "Foo\0", "Foo\n", ": x", " Foo: x", "Host: a\0", "Foo: a\n", "Foo: a\rb", "\n"].each do |line|
      assert_refused "GET / HTTP/1.1\r\n#{line}"
    end
  end

  # Each is a name that CGI or Rack gives to something else.
  def test_no_field_passes_for_a_variable_of_the_servers
    names = %w[Request-Method Path-Info Script-Name Query-String Server-Name Server-Port Server-Protocol Remote-Addr
               Https rack.url_scheme rack.input]
    seen, = assert_served(request("GET / HTTP/1.1", *names.map { |name| "#{name}: evil" }))
    assert_empty seen.env.select { |key, value| value == "evil" && !key.start_with?("HTTP_") }
  end

  def test_case_036_two_cookies_are_joined
    seen, = assert_served(request("GET / HTTP/1.1", "Cookie: a=1", "Foo: x", "Cookie: b=2"))
    assert_equal "a=1; b=2", seen["HTTP_COOKIE"]
  end

  def test_case_037_ten_thousand_fields
    fields = Array.new(10_000) { |i| "X#{i}: y" }
    bytes = request("GET / HTTP/1.1", *fields)
    open_client do |client|
      assert_match(%r{\A(HTTP/1\.1 431 |\z)}, client.write(bytes).rest)
    end
    assert_empty recorder.seen
  end

  def test_case_038_oversized_line
    assert_refused request("GET / HTTP/1.1", "Foo: #{"x" * 262_144}"), with: 431, deliveries: [:write]
    assert_refused request("GET / HTTP/1.1", "#{"x" * 262_144}: y"), with: 431, deliveries: [:write]
  end

  def test_case_039_oversized_total
    lines = Array.new(64) { |i| "X#{i}: #{"y" * 4_096}" }
    assert_refused request("GET / HTTP/1.1", *lines), with: 431, deliveries: [:write]
  end
end
