# frozen_string_literal: true

require "test_helper"

# The response parser: each input whole, split at every octet, and octet by octet, must be understood the same.
class TestLoadResponse < Minitest::Test
  Parts = Cuttle::Load::Parts

  # text => [status, persists], of a response that uses up its text
  GOOD = {
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" => [200, true],
    "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n" => [200, true],
    "HTTP/1.1 200 OK\r\ncontent-length:5 \t\r\n\r\nhello" => [200, true],
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc" => [200, true],
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n\r\nok" => [200, false],
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: upgrade, close\r\n\r\nok" => [200, false],
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok" => [200, false],
    "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nok" => [200, true],
    "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n" => [204, true],
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n" => [304, true],
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx" => [201, true],
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 \r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n" =>
      [404, true],
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" => [101, false],
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" => [200, true],
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n" \
    "0a;a=\"b\"\r\n0123456789\r\n1\r\nx\r\n00\r\nA: b\r\nC: d\r\n\r\n" => [200, true],
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \t; a = b\r\nhello\r\n0 ;c\r\n\r\n" => [200, true],
    "HTTP/1.1 503 \xC3\xA4\tb\r\nServer: \xFF\r\nContent-Length: 0\r\n\r\n".b => [503, true]
  }.freeze

  BAD = [
    "SSH-2.0-OpenSSH\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 600 OK\r\n\r\n",
    "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "HTTP/1.1 200 OK\rX", "HTTP/1.1 200 O\0K\r\n\r\n",
    "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "HTTP/1.1 200 OK\r\nName : x\r\n\r\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: #{"0" * 200}1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 a;b\r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n ;a\r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n"
  ].freeze

  # What the end of the connection means after these.
  ENDS = {
    "" => :early_close, "HTT" => :early_close, "HTTP/1.1 200 OK\r\nContent-Le" => :early_close,
    "HTTP/1.1 100 Continue\r\n\r\n" => :early_close,
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell" => :length,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel" => :early_close,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" => :early_close,
    "HTTP/1.1 200 OK\r\n\r\nuntil the end" => :done, "HTTP/1.0 200 OK\r\n\r\n" => :done,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nuntil the end" => :done
  }.freeze

  # Yields the text in every way it may arrive.
  def every_split(text)
    yield [text]
    (1...text.bytesize).each { |at| yield [text.byteslice(0, at), text.byteslice(at..)] }
    yield text.bytes.map(&:chr)
  end

  def test_good_responses
    GOOD.each do |text, (status, persists)|
      every_split(text) do |pieces|
        assert_equal [status, persists, text.bytesize], Parts.parse(pieces, false), pieces.inspect
      end
    end
  end

  def test_what_follows_is_left
    GOOD.each_key { |text| assert_equal text.bytesize, Parts.parse(["#{text}HTTP/1.1 ".b], false)[2], text.inspect }
  end

  def test_malformed_responses
    BAD.each do |text|
      every_split(text) { |pieces| assert_equal :malformed, Parts.parse(pieces, false), pieces.inspect }
    end
  end

  def test_the_end_of_the_connection
    ENDS.each do |text, meaning|
      every_split(text) { |pieces| assert_equal meaning, Parts.parse(pieces, false), pieces.inspect }
    end
  end

  def test_a_response_to_head_has_no_body
    ["Content-Length: 500", "Transfer-Encoding: chunked", "X: y"].each do |field|
      text = "HTTP/1.1 200 OK\r\n#{field}\r\n\r\n"
      every_split(text) { |pieces| assert_equal [200, true, text.bytesize], Parts.parse(pieces, true), pieces.inspect }
    end
  end

  def test_endless_heads_are_refused
    assert_equal :malformed, Parts.parse(["HTTP/1.1 200 OK\r\n", *(["A: #{"b" * 1000}\r\n"] * 100)], false)
    assert_equal :malformed, Parts.parse(["HTTP/1.1 200 OK\r\nA: ", "b" * 100_000], false)
    ["1;#{"b" * 100_000}", "1#{" " * 100_000}"].each do |size|
      assert_equal :malformed, Parts.parse(["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", size], false)
    end
    assert_equal :malformed,
                 Parts.parse(
                   ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                    *(["A: #{"b" * 1000}\r\n"] * 100)], false
                 )
  end

  # The head that is remembered must not be taken for another one, nor keep what belonged to its own response.
  def test_heads_are_remembered_rightly
    texts = GOOD.keys.map(&:b)
    persisting = texts.select do |text|
      GOOD.fetch(text.dup.force_encoding(GOOD.keys.find { |key| key.b == text }.encoding))[1]
    end
    random = Random.new(1)
    100.times do
      sequence = Array.new(20) { persisting[random.rand(persisting.length)] }
      expected = sequence.map { |text| Parts.parse([text], false)[0] }

      assert_equal expected, Parts.statuses(sequence.join)
    end
  end

  def test_a_remembered_head_is_compared_wholly
    same = "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 1\r\n\r\na"
    other = "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc"

    assert_equal [200, 200, 200, 200], Parts.statuses(same + same + other + same)
  end
end
