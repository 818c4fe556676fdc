# frozen_string_literal: true

require "test_helper"
require_relative "conversation"
require_relative "parser_rows"

# What the recognizer recognizes, and that it reports what it does not recognize. (test_parser_differences.rb tests that
# it accepts nothing that the native parser refuses.)
class TestRecognizer < Minitest::Test
  Recognizer = Cuttle::Http::Parsers::Recognizer

  def test_is_for_study
    assert_predicate Recognizer, :study_only?
  end

  def test_requests_with_and_without_a_body
    octets = "POST /a?b=c HTTP/1.1\r\nHost: x:81\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n".b
    [Conversation.cut(Recognizer, octets), Conversation.bytewise(Recognizer, octets)].each do |conversation|
      assert_equal Conversation.cut(Cuttle::Http::Parsers::Native, octets).to_a, conversation.to_a
      assert_equal %w[hello], conversation.bodies.first(1)
    end
  end

  def test_what_it_does_not_know_is_501
    ["Transfer-Encoding: chunked", "Expect: 100-continue", "Connection: close, x"].each do |line|
      assert_equal 501, status("GET / HTTP/1.1\r\nHost: a\r\n#{line}\r\n\r\n"), line
    end
    error = assert_raises(Cuttle::Http::ParseError) { Recognizer.new.chunks("0\r\n\r\n".b) }
    assert_equal 501, error.status
  end

  def test_what_it_does_not_recognize_is_400
    [
      "BREW / HTTP/1.1\r\nHost: a", "GET / HTTP/1.1", "GET / HTTP/1.1\r\nHost: [::1]",
      "GET http://a/ HTTP/1.1\r\nHost: a", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: a"
    ].each do |head|
      assert_equal 400, status("#{head}\r\n\r\n"), head
    end
  end

  def test_large_heads_are_431
    assert_equal 431, status("GET / HTTP/1.1\r\nHost: a\r\nA: #{"b" * 20_000}")
    assert_equal 431, status("GET / HTTP/1.1\r\nHost: a\r\n#{"A: b\r\n" * 128}\r\n")
  end

  def test_what_can_not_become_a_head_is_refused_at_once
    octets = "GET /a?b HTTP/1.0\r\nHost: a\r\nFoo: b\r\n\r\n".b
    (0...octets.bytesize).each do |size|
      assert_equal :more, status(octets[0, size])
      assert_equal 400, status("#{octets[0, size]}\0"), "a NUL at #{size}"
    end
    ["GER", "GE/", "GET  ", "GET h", "GET / HTTP/2", "GET / HTTP/1.1 ", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nFoo ",
     "GET / HTTP/1.1\r\n ", "GET / HTTP/1.1\r\n:"].each do |wrong|
      assert_equal [:more, 400], [status(wrong[0..-2]), status(wrong)], wrong
    end
  end

  def test_the_verdict_does_not_depend_on_the_pieces
    (ParserRows.all.map(&:octets) + ["GET / HTTP/1.1\r\nFoo: #{"x" * 20_000}\0".b]).each do |octets|
      next if octets.bytesize > 30_000

      expected = Conversation.cut(Recognizer, octets).to_a
      [1, octets.bytesize / 2, octets.bytesize - 1].each do |cut|
        assert_equal expected, Conversation.cut(Recognizer, octets, [cut]).to_a, octets.inspect
      end
    end
  end

  private

  def status(octets)
    Conversation.cut(Recognizer, octets.b).ending
  end
end
