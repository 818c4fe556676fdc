# frozen_string_literal: true

require "test_helper"

# Preconditions (RFC 9110, 13), in their order.
class TestStaticConditions < Minitest::Test
  include StaticSite

  EARLIER = "Thu, 02 Jan 2020 03:04:04 GMT"
  LATER = "Thu, 02 Jan 2020 03:04:06 GMT"

  def test_if_none_match
    etag = settled_etag
    { etag => 304, "W/#{etag}" => 304, "\"x\", #{etag}" => 304, "*" => 304, "\"x\"" => 200, "x" => 200, "" => 200,
      etag.delete('"') => 200, "\"x,#{etag[1..]}" => 200 }.each do |field, status|
      assert_equal status, get("/a.html", "if-none-match" => field).status, field
    end
  end

  def test_not_modified_says_what_caches_need
    etag = settled_etag
    answer = get("/a.html", "if-none-match" => etag)
    assert_equal({ "etag" => etag, "vary" => "accept-encoding" }, answer.headers)
    assert_equal "", answer.body
    assert_equal 304, get("/a.html", { "if-none-match" => etag }, method: "HEAD").status
  end

  def test_weak_tags_match_for_caches
    put "a.html"
    etag = get("/a.html").headers["etag"]
    assert_equal 304, get("/a.html", "if-none-match" => etag).status
    assert_equal 304, get("/a.html", "if-none-match" => etag.delete_prefix("W/")).status
  end

  def test_if_modified_since
    settled_etag
    { DATE => 304, LATER => 304, EARLIER => 200, "Thursday, 02-Jan-20 03:04:05 GMT" => 304,
      "Thu Jan  2 03:04:05 2020" => 304, "yesterday" => 200, "" => 200 }.each do |date, status|
      assert_equal status, get("/a.html", "if-modified-since" => date).status, date
    end
  end

  def test_if_none_match_before_if_modified_since
    etag = settled_etag
    assert_equal 200, get("/a.html", "if-none-match" => "\"x\"", "if-modified-since" => LATER).status
    assert_equal 304, get("/a.html", "if-none-match" => etag, "if-modified-since" => EARLIER).status
  end

  def test_if_match
    etag = settled_etag
    { etag => 200, "*" => 200, "\"x\", #{etag}" => 200, "\"x\"" => 412, "W/#{etag}" => 412, "" => 412 }
      .each { |field, status| assert_equal status, get("/a.html", "if-match" => field).status, field }
  end

  def test_if_match_takes_no_weak_tag
    put "a.html"
    etag = get("/a.html").headers["etag"]
    assert_equal 412, get("/a.html", "if-match" => etag).status
  end

  def test_if_unmodified_since
    settled_etag
    { DATE => 200, LATER => 200, EARLIER => 412, "yesterday" => 200 }.each do |date, status|
      assert_equal status, get("/a.html", "if-unmodified-since" => date).status, date
    end
  end

  def test_precedence
    etag = settled_etag
    assert_equal 200, get("/a.html", "if-match" => etag, "if-unmodified-since" => EARLIER).status
    assert_equal 412, get("/a.html", "if-match" => "\"x\"", "if-none-match" => etag).status
    assert_equal 304, get("/a.html", "if-match" => etag, "if-none-match" => etag).status
    assert_equal 412, get("/a.html", "if-unmodified-since" => EARLIER, "if-none-match" => etag).status
    assert_equal 304, get("/a.html", "if-none-match" => etag, "range" => "bytes=0-0").status
    assert_equal 412, get("/a.html", "if-match" => "\"x\"", "range" => "bytes=0-0").status
    assert_equal 304, get("/a.html", "if-modified-since" => DATE, "range" => "bytes=99-").status
  end

  def test_if_range
    etag = settled_etag("0123456789")
    { etag => 206, DATE => 206, "W/#{etag}" => 200, "\"x\"" => 200, EARLIER => 200, LATER => 200, "x" => 200 }
      .each do |validator, status|
      assert_equal status, get("/a.html", "range" => "bytes=0-1", "if-range" => validator).status, validator
    end
    assert_equal 200, get("/a.html", "range" => "bytes=99-", "if-range" => "\"x\"").status
    assert_equal 200, get("/a.html", "if-range" => etag).status
  end

  def test_if_range_needs_a_file_that_is_settled
    put "a.html", "0123456789"
    etag = get("/a.html").headers["etag"]
    [etag, etag.delete_prefix("W/"), DATE].each do |validator|
      assert_equal 200, get("/a.html", "range" => "bytes=0-1", "if-range" => validator).status, validator
    end
  end

  private

  def settled_etag(content = "content")
    put "a.html", content
    settle "a.html"
    get("/a.html").headers["etag"]
  end
end
