# frozen_string_literal: true

require "test_helper"
require "timeout"

class TestStaticPath < Minitest::Test
  GOOD = {
    "/" => "", "" => "", "/a" => "a", "/a/b.html" => "a/b.html", "/a/" => "a/", "/a%20b" => "a b",
    "/caf%C3%A9" => "caf\xC3\xA9".b,
    "/%61%2E%62" => "a.b", "/a..b" => "a..b", "/a." => "a.", "/a%0ab" => "a\nb", "/%ff" => "\xFF".b, "/~a" => "~a",
    "/a+b" => "a+b", "/%252e%252e" => "%2e%2e", "/a%2500" => "a%00", "/a%25" => "a%", "/..." => nil
  }.freeze

  BAD = %w[
    .. /.. /../a /a/.. /a/../b /. /a/./b /.env /.git/config /a/.htaccess /.well-known/x
    /%2e%2e/a /%2E%2e/a /.%2e/a /a/%2e%2e/%2e%2e/b /%2e /%2eenv /a/%2egit/x
    // //a /a//b /a// //evil.test/%2e%2e
    /a%2fb /a%2Fb /%2f /..%2fa /a%5cb /a%5Cb /..%5c..%5ca /%5c%5cevil.test /a\\b /\\evil.test /..\\a
    /%00 /a%00 /a%00.html /% /a% /%4 /%zz /a%2 /%u002e /%%32%65 /a%-1
  ].push("*", "a", "a/b", "http://a/b", "/a\0b", "/%c0%ae%c0%ae/%").freeze

  def test_good_paths_are_decoded_once
    GOOD.each do |path, name|
      name ? assert_equal(name, decode(path), path) : assert_nil(decode(path), path)
    end
  end

  def test_bad_paths_have_no_name
    BAD.each { |path| assert_nil decode(path), path }
  end

  def test_names_are_binary
    assert_equal Encoding::BINARY, decode("/caf%C3%A9").encoding
    assert_equal Encoding::BINARY, decode("/plain").encoding
  end

  # What looks like "." or "/" in UTF-8's invalid long forms is just a strange name.
  def test_overlong_forms_are_names
    assert_equal "\xC0\xAE\xC0\xAE/x".b, decode("/%c0%ae%c0%ae/x")
    assert_equal "\xC0\xAF".b, decode("/%c0%af")
  end

  def test_every_octet_by_its_encoding
    256.times do |octet|
      name = decode(format("/a%%%02xb", octet))
      [0, 0x2f, 0x5c].include?(octet) ? assert_nil(name) : assert_equal("a#{octet.chr}b".b, name)
    end
  end

  def test_broken_is_not_missing
    ["/%", "/%4", "/%zz", "/%00", "/a\0"].each { |path| assert Cuttle::Static::Path.malformed?(path), path }
    ["/a", "/%2e%2e/", "/a%2fb", "/%25", "//"].each { |path| refute Cuttle::Static::Path.malformed?(path), path }
  end

  def test_a_long_path_is_refused_without_backtracking
    ["/#{"a/" * 50_000}.", "/#{"a" * 100_000}//", "/#{"%61" * 30_000}%"].each do |path|
      assert_nil Timeout.timeout(10) { decode(path) }
    end
  end

  private

  def decode(path)
    Cuttle::Static::Path.decode(path.b)
  end
end
