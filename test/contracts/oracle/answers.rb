# frozen_string_literal: true

# Instructions for an app, as values of X-App fields: "WORD ARGUMENT …", with percent-encoded arguments. See App.
class Answers
  STATUSES = (%w[200 200 200 404 500 204 304 205 299 599 600 100 101 103 199 0 -1 99 1000 nil 200.5 :ok] +
              ['"404"', '"20"', '"abc"']).freeze
  NAMES = ["content-type", "x-a", "X-A", "set-cookie", "content-length", "Content-Length", "transfer-encoding",
           "Transfer-Encoding", "connection", "Connection", "date", "server", "status", "Status", "keep-alive", "etag",
           "upgrade", "rack.x", "rack.", "rack", "", "a b", "x\n", "x:", "ä", "trailer", "x_a", "vary"].freeze
  VALUES = ["a", "", "a\nb", "a\n\nb", "\na", "a\n", "a\r\nb", "a\rb", "\0", "\x7F", "ä", "\xFF", " a ", "\t", "5", "0",
            "3", "10", "05", "-1", "5, 5", "+5", "5 ", "999999999999999999", "9999999999999999999", "chunked",
            "Chunked", "gzip", "gzip, chunked", "chunked, chunked", "identity", "close", "Close", "keep-alive",
            "close, x", "x, close", "x", "upgrade", "keep-alive, x", "", "Mon, 01 Jan 2024 00:00:00 GMT",
            "x" * 300].freeze
  FRAMING = { "content-length" => ["5", "5", "0", "3", "10", "05", "-1", "many", "5,5", "5\n5", "5\n6"],
              "transfer-encoding" => %w[chunked gzip], "connection" => ["close", "keep-alive", "x, close", "x"] }.freeze
  KINDS = %w[array array each each ary ary+each enum sub string path missing directory file proc proc proc+each nil
             object number hash].freeze
  PARTS = ["hello", "", "a", "ä", "5\r\nhello\r\n", "0\r\n\r\n", "1\r\na\r\n0\r\n\r\n"].freeze
  ODD_PARTS = %w[nil 1 :a utf16 frozen subclass].freeze
  RAISES = %w[call each each1 close stream status fields finished exit throw signal].freeze
  READS = %w[none part all twice gets each close].freeze
  OTHERS = ["hints", "hints bad", "hijack", "hijack raise", "partial", "partial raise", "partial+body", "upgrade",
            "finished", "after", "fields array", "fields nil", "fields number", "fields pairs", "fields frozen",
            "fields empty", "triple short", "triple long", "triple nil", "triple frozen", "value array",
            "value nested", "value nil", "value number", "value symbol", "name symbol", "name number", "name nil",
            "stream late", "stream error", "stream read", "stream twice", "env", "flush"].freeze

  def initialize(random)
    @random = random
  end

  def directive
    case @random.rand(10)
    when 0, 1 then "status #{encode(pick(STATUSES))}"
    when 2 then "field #{encode(pick(NAMES))} #{encode(pick(VALUES))}"
    when 3
      name = pick(FRAMING.keys)
      "field #{name} #{encode(pick(FRAMING.fetch(name)))}"
    when 4, 5 then "body #{encode(pick(KINDS))}"
    when 6 then part
    when 7 then "raise #{pick(RAISES)}"
    when 8 then "read #{pick(READS)}"
    else pick(OTHERS)
    end
  end

  private

  def part
    case @random.rand(6)
    when 0 then "part #{encode(pick(ODD_PARTS))} odd"
    when 1 then "part #{pick([1, 100, 65_536, 70_000, 262_145])} times"
    else "part #{encode(pick(PARTS))}"
    end
  end

  def encode(text) = text.empty? ? "-" : text.b.gsub(/[^A-Za-z0-9.:;-]/n) { |octet| format("%%%02X", octet.ord) }

  def pick(list) = list[@random.rand(list.size)]
end
