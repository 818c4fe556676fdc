# frozen_string_literal: true

require "test_helper"

# Parts of files (RFC 9110, 14).
class TestStaticPartial < Minitest::Test
  include StaticSite

  def test_a_range
    put "a.css", "0123456789"
    answer = get("/a.css", "range" => "bytes=2-4")
    assert_equal [206, "234", "bytes 2-4/10"], [answer.status, answer.body, answer.headers["content-range"]]
    assert_equal get("/a.css").headers, answer.headers.reject { |name, _| name == "content-range" }
  end

  def test_a_range_of_a_large_file
    content = Random.bytes(100_000)
    put "large", content
    answer = get("/large", "range" => "bytes=1000-60999")
    assert_equal [:file, content[1000..60_999]], [answer.sent, answer.body]
    assert_equal [:strings, content[-10..]], get("/large", "range" => "bytes=-10").then { |a| [a.sent, a.body] }
  end

  def test_a_range_that_is_not_there
    put "a.css", "0123456789"
    answer = get("/a.css", "range" => "bytes=10-")
    assert_equal [416, "bytes */10"], [answer.status, answer.headers["content-range"]]
    refute_includes answer.headers.keys, "etag"
  end

  def test_ranges_are_for_get
    put "a.css", "0123456789"
    assert_equal 200, get("/a.css", { "range" => "bytes=2-4" }, method: "HEAD").status
    assert_equal 200, get("/a.css", { "range" => "bytes=99-" }, method: "HEAD").status
  end

  def test_a_range_that_is_not_understood_is_ignored
    put "a.css", "0123456789"
    ["lines=1-2", "bytes=x", "bytes=4-2", "bytes=#{"0-0," * 40}"].each do |field|
      assert_equal [200, "0123456789"], get("/a.css", "range" => field).then { |a| [a.status, a.body] }, field
    end
  end

  def test_several_ranges
    content = ("a".."z").map { |letter| letter * 1000 }.join
    put "a.css", content
    answer = get("/a.css", "range" => "bytes=25990-,0-9,5000-5009")
    assert_equal 206, answer.status
    refute_includes answer.headers.keys, "content-range"
    assert_equal [["bytes 25990-25999/26000", "z" * 10], ["bytes 0-9/26000", "a" * 10],
                  ["bytes 5000-5009/26000", "f" * 10]], byteranges(answer)
  end

  def test_every_answer_of_several_ranges_has_a_boundary_of_its_own
    put "a.css", "x" * 1000
    boundaries = Array.new(2) { get("/a.css", "range" => "bytes=0-1,900-901").headers["content-type"] }
    refute_equal(*boundaries)
  end

  def test_ranges_that_become_one_are_one
    put "a.css", "0123456789"
    answer = get("/a.css", "range" => "bytes=5-6,0-1")
    assert_equal [206, "0123456", "bytes 0-6/10"], [answer.status, answer.body, answer.headers["content-range"]]
  end

  def test_several_ranges_of_too_much_are_the_whole
    put "large", "x" * 3_000_000
    assert_equal 200, get("/large", "range" => "bytes=0-999999,1500000-2500000").status
    assert_equal 206, get("/large", "range" => "bytes=0-399999,1500000-1900000").status
  end

  # Its end can't be served from memory any more; sending the file finds that out and breaks the connection off.
  def test_a_file_that_shrinks_is_never_ended_early
    path = put("a.css", "0123456789")
    entry = Cuttle::Beneath.new(@root, false).open("a.css")
    representation = Cuttle::Static::Representation.new("a.css", entry, type: "text/css")
    File.truncate(path, 4)
    connection = FakeExchange.new("/a.css")
    Cuttle::Static::Delivery.call(connection, entry, representation)
    assert_equal [:file, 10, "0123"], [connection.sent, connection.length, connection.body]
  end

  private

  # [[Content-Range, octets], …] of a multipart/byteranges body (RFC 2046, 5.1).
  def byteranges(answer)
    boundary = answer.headers["content-type"][%r{\Amultipart/byteranges; boundary=(\w+)\z}, 1]
    parts = answer.body.split("\r\n--#{boundary}", -1)
    assert_equal ["", "--\r\n"], [parts.first, parts.last]
    parts[1..-2].map do |part|
      head, content = part.delete_prefix("\r\n").split("\r\n\r\n", 2)
      fields = head.split("\r\n").to_h { |field| field.split(": ", 2) }
      assert_equal "text/css; charset=utf-8", fields["content-type"]
      [fields["content-range"], content]
    end
  end
end
