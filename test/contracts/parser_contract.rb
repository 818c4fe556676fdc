# frozen_string_literal: true

require_relative "conversation"
require_relative "parser_rows"

# The duties of a complete parser, for octets that arrive at once, in two pieces cut anywhere, and one by one. A class
# that includes this has a method +parser+, which returns the parser's class.
module ParserContract
  # A longer input is cut at some places, and near its ends.
  CUT_EVERYWHERE = 300

  # In a longer input, only this many octets at both ends come one by one; between them, pieces.
  ONE_BY_ONE = 2_000

  ParserRows.all.each do |row|
    title = "test_#{row.title}"
    raise "two rows are called #{title}" if method_defined?(title)

    define_method(title) do
      check(row, Conversation.cut(parser, row.octets))
      cuts(row.octets).each { |cut| check(row, Conversation.cut(parser, row.octets, [cut]), "cut at #{cut}") }
      check(row, Conversation.bytewise(parser, row.octets, ends: ONE_BY_ONE), "octet by octet")
      assert_equal :more, Conversation.cut(parser, row.octets[0..-2]).ending, "refused too soon" if row.at_once
    end
  end

  def test_is_for_production
    refute_predicate parser, :study_only?
  end

  def test_a_parser_is_good_for_the_next_request_of_its_connection
    instance = parser.new
    2.times do
      octets = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".b
      assert_nil instance.head(octets.byteslice(0, 30))
      assert_equal octets.bytesize, instance.head(octets).bytesize
      assert_equal [1, "", false], instance.chunks("2".b)
      assert_equal [4, "a", false], instance.chunks("\r\na".b).tap { |result| result[0] += 1 }
      assert_equal [8, "b", true], instance.chunks("b\r\n0\r\n\r\nGET".b)
    end
  end

  def test_strings_are_binary_and_the_callers_own
    head = parser.new.head("GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\nFoo: \u00fc\r\n\r\n".b)
    strings = [head.http_method, head.target, head.path, head.query, head.host, head.port, *head.fields.flatten]
    assert_equal [Encoding::BINARY], strings.map(&:encoding).uniq
    assert(strings.none?(&:frozen?))
  end

  # A line of four times the length takes four times as long. If the parser read each octet again with every piece, it
  # would take sixteen times as long.
  def test_a_line_that_comes_octet_by_octet_costs_linear_time
    small, large = [4_000, 16_000].map { |size| cpu_seconds { 8.times { dribble_a_line(size) } } }
    assert_operator large, :<, (8 * small) + 0.1
  end

  # White space inside a value is looked at once, and not once for each place where its end might be.
  def test_a_line_of_white_space_costs_linear_time
    small, large = [3_500, 14_000].map { |size| cpu_seconds { 8.times { parse_white_space(size) } } }
    assert_operator large, :<, (8 * small) + 0.1
  end

  private

  def parse_white_space(size)
    field = "a#{" " * size}b"
    head = parser.new.head("GET / HTTP/1.1\r\nHost: a\r\nFoo: #{field}\r\nConnection: #{field}\r\n\r\n".b)
    assert_equal [field, field], head.fields.last(2).map(&:last)
  end

  def dribble_a_line(size)
    instance = parser.new
    octets = "GET / HTTP/1.1\r\nHost: a\r\nFoo:".b
    size.times { instance.head(octets << "x") }
    assert_nil instance.head(octets)
  end

  def cpu_seconds
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    yield
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
  end

  def cuts(octets)
    size = octets.bytesize
    size > CUT_EVERYWHERE ? [1, 2, *(1..7).map { |part| size * part / 8 }, *(size - 4)...size] : 1...size
  end

  def check(row, conversation, how = "whole")
    assert_equal row.want, conversation.ending, "#{row.title}, #{how}: #{row.octets[0, 200].inspect}"
    return assert_equal row.served, conversation.heads.size, how unless row.check

    actual, expected = row.check.call(conversation.heads, conversation.bodies)
    assert_equal expected, actual, how
  end
end
