# frozen_string_literal: true

require_relative "parser_rows"

# Unforeseen inputs: rows that are joined, cut and changed at random, with significant words at wrong places. The same
# seed gives the same inputs.
class Mutations
  WORDS = [
    "\r\n", "\r", "\n", "\r\n\r\n", " ", "\t", "\0", ":", ": ", ",", ";", "=", "\"", "\\", "/", "?", "*", "#", "%",
    "%00", "@", "[", "]", "[::1]", "::", "0", "5", "f", "G", "-1", "+5", "0x5", "7fffffffffffffff", "8000000000000000",
    "\x7F", "\x80", "\xFF", "GET ", "POST ", "OPTIONS * ", "CONNECT ", "http://", "https://b:1", " HTTP/1.1\r\n",
    "HTTP/1.0", "HTTP/2.0", "Host: a\r\n", "Host:\r\n", "Host", "Connection: close\r\n", "Connection: keep-alive\r\n",
    "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n", "Expect: 100-continue\r\n", "chunked", "identity", "close",
    "hello", "5\r\nhello\r\n", "0\r\n\r\n", "0;a=b\r\n", " ;", "; ", " =\t",
    "A: b\r\n", "A_B: c\r\n", " folded\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  ].map(&:b).freeze

  # Longer rows would take as much time as many others.
  ROOTS = ParserRows.all.map(&:octets).select { |octets| octets.bytesize < 1000 }.freeze

  def initialize(seed)
    @random = Random.new(seed)
  end

  # One more input.
  def octets
    octets = pick(ROOTS).dup
    octets << pick(ROOTS) if one_in(4)
    (1 + @random.rand(4)).times { change(octets) }
    octets
  end

  # Where to cut an input of +size+ octets.
  def cuts(size)
    Array.new(@random.rand(4)) { @random.rand(size + 1) }.sort
  end

  private

  def change(octets)
    at = @random.rand(octets.bytesize + 1)
    case @random.rand(6)
    when 0 then octets.setbyte(at, @random.rand(256)) if at < octets.bytesize
    when 1 then octets.slice!(at, 1 + @random.rand(5))
    when 2 then octets.insert(at, octets.byteslice(at, @random.rand(20)))
    when 3 then octets.slice!(at..) if one_in(3)
    else octets.insert(at, pick(WORDS))
    end
  end

  def pick(list)
    list[@random.rand(list.size)]
  end

  def one_in(count)
    @random.rand(count).zero?
  end
end
