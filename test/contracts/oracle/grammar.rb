# frozen_string_literal: true

require_relative "answers"

# Requests from the grammar of RFC 9112 and 9110, valid and broken, as the items of a Dialogue: a String for each
# production, so that a failure shrinks by productions.
class Grammar
  LINE_END = "\r\n"
  METHODS = %w[GET GET GET GET HEAD HEAD POST POST PUT DELETE OPTIONS PATCH TRACE PRI get M-SEARCH
               !#$%&'*+-.^_`|~09].freeze
  BAD_METHODS = ["", "G\0T", "G(T", "\x80", "\"GET\"", "M" * 5_000].freeze
  VERSIONS = (["HTTP/1.1"] * 8 + ["HTTP/1.0"] * 3).freeze
  BAD_VERSIONS = ["HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/11", "HTTP/1.", "HTCPCP/1.0",
                  "HTTP/01.1", "HTTP/1.1\t", ""].freeze
  HOSTS = ["a", "a", "a", "example.com:80", "example.com:", "[::1]", "[::1]:8080", "[::ffff:1.2.3.4]", "[v1.a:b]",
           "127.0.0.1:1", "A.b", "a_b", "a%41", "xn--bcher-kva.example", "a:65535", "a:0080", "[::]", "a.", "-",
           "[1:2:3:4:5:6:7:8]", "a!$&'()*+;="].freeze
  BAD_HOSTS = ["", "a b", "a,b", "::1", "[::1", "[:::1]", "[fe80::1%25eth0]", "a:99999", "a:x", "user@a", "a/b", "[]",
               "a%4", "a%zz", "\x80", ":80", "[1:2:3]", "a:1:2", "[::1]x", "a?b", "a#b", "[v.a]", "[::1.2.3]",
               "[12345::]"].freeze
  SEGMENTS = ["", "", "a", "b.c", "..", ".", "%20", "%2F", "%2f", "%00", "%C3%A9", "~", "a;b=c", "a:b@c", "!$&'()*+,;=",
              "%25", "_-", "index.html"].freeze
  BAD_SEGMENTS = ["%", "%4", "%zz", "\x80", "\xC3\xA9", "a b", "#f", "\\", "\"", "<", ">", "^", "`", "{", "|", "}",
                  "[", "]", "\x7F", "\0", "\t"].freeze
  QUERIES = ["", "a=b", "a=b&c[]=%5B", "?", "/?", "%26", "x=%00", "a+b", "http://a/?b"].freeze
  NAMES = %w[Accept accept ACCEPT Accept-Encoding Cookie cookie X-Forwarded-For x-forwarded-for X-Forwarded-Proto
             X_Forwarded_Proto X-A X-A X-B TE Upgrade Via Referer
             User-Agent Content-Type If-None-Match Range Authorization Version Keep-Alive Proxy X_A X_Remote_User
             X-Request-Start Trailer Status X-Content-Length Content_Length Transfer_Encoding Host_
             !#$%&'*+-.^_`|~0].freeze
  BAD_NAMES = ["", "A B", "A ", " A", "A\t", "A(", "\x80", "A:", "\"A\"", "A\0", "A@", "A/", "[A]"].freeze
  VALUES = ["", "a", "a, b", ", ,a", "\"q\\\"s, x\"", "a;q=0.5", "\x80\xFF", "\xC3\xA4", "a \t b", "text/html",
            "192.0.2.1", "10.0.0.1", "192.0.2.1, [::1]:80, 10.1.2.3:4", "https", "http, wss", "(comment (nested))",
            "0", "a=b; c=d", "W/\"e\"", "x" * 200, "t=1", ":", "a:b", "%00", "\x85\xA0"].freeze
  BAD_VALUES = ["a\0b", "\x7F", "a\x01", "a\rb", "a\nb", "\e", "a\vb"].freeze
  BLANKS = ["", " ", " ", " ", " ", "\t", "  \t "].freeze
  OPTIONS = ["close", "keep-alive", "Close", "Keep-Alive", "upgrade", "close, x-a", "keep-alive , close", ",,close",
             "TE", "keep-alive, upgrade", "x, keep-alive", "close;", "\"close\"", "", "\tclose\t,"].freeze
  LENGTHS = ["5", "5", "05", "000000000000000000005", "5 ", "0"].freeze
  BAD_LENGTHS = ["5, 5", "5,5", "+5", "-1", "5, 6", "5;", "0x5", "1_0", "5.0", "", ",", "five", "9223372036854775807",
                 "9223372036854775808", "99999999999999999999999", "5 5", "\"5\"", "5,", "\xB2"].freeze
  CODINGS = ["chunked", "chunked", "chunked", "Chunked", "CHUNKED", "chunked "].freeze
  BAD_CODINGS = ["gzip, chunked", "chunked, chunked", "identity", "gzip", "chunked, gzip", "", "chunked;a=b",
                 ",chunked", "chunked,", "\"chunked\"", "xchunked", "identity, chunked", "chunked\v",
                 "\vchunked"].freeze
  EXPECTS = ["100-continue", "100-continue", "100-Continue", ",100-continue, 100-continue"].freeze
  BAD_EXPECTS = ["200-ok", "100-continue;a", "100-continu", "", ",", "100-continue, x"].freeze
  PROTOCOLS = ["x", "x", "y, X/2", "y", "xy", ""].freeze
  EXTENSIONS = ["", "", "", ";a", ";a=b", ";a=\"q\\\"s\"", " ; a = b", ";a;b;c=d", "\t;x", ";a=\"\x80\"",
                ";a=\";\r\""].freeze
  BAD_EXTENSIONS = [";", ";=", ";a=", ";a=\"", " ", "x", ";a b", ";a=\"\0\"", ";\x80", ";a=b\n", ";a=b\r", " 0"].freeze
  TRAILERS = %w[Content-Length Transfer-Encoding Host Connection Trailer X-App].freeze
  BAD_NUMBERS = ["0x%s", " %s", "-%s", "+%s", "%s_0", "", "G", "f" * 16, "1#{"0" * 15}5"].freeze
  SIZES = [1, 2, 5, 16, 17, 255, 4_000].freeze
  LIMITS = { line: 16_384, field: 16_384, fields: 128, head: 65_536, chunk: 4_096, extensions: 16_384,
             trailer: 16_384 }.freeze
  NOISE = ["\r\n", "\r", "\n", " ", "\t", "\0", ":", ",", ";", "\"", "%", "\x80", "\xFF", "0", "\r\n\r\n", "\r\n ",
           "Host: a\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
           "0\r\n\r\n", "hello", "HTTP/1.1"].map(&:b).freeze
  # The preface of an HTTP/2 client.
  PREFACE = ["PRI * HTTP/2.0\r\n", "\r\n", "SM\r\n\r\n"].freeze
  # The last request, which is answered if the connection was kept open.
  LAST = ["GET /last HTTP/1.1\r\n", "Host: a\r\n", "Connection: close\r\n", "\r\n"].freeze

  def initialize(random)
    @random = random
    @answers = Answers.new(random)
  end

  # The items of one more dialogue.
  def dialogue
    @wild = one_in(2) # whether anything may be broken
    items = Array.new(1 + @random.rand(1 + @random.rand(5))) { request_or_wreck }.flatten
    items.concat(LAST) unless one_in(10)
    items = cut(items) if one_in(2)
    items << :late if one_in(4)
    items.map { |item| item.is_a?(String) ? item.b.freeze : item }
  end

  private

  def request_or_wreck
    return PREFACE if @wild && one_in(50)

    @rough = @wild && one_in(2) ? pick(%i[head head body]) : nil # the part whose productions may be broken
    @breaks = one_in(4) ? 3 : 1 # how many of them
    items = request
    items << :wait if one_in(6)
    @wild && one_in(4) ? wreck(items) : items
  end

  def request
    @expects = false
    @part = :head
    start = [*(LINE_END if one_in(20)), *request_line]
    head = [*start, *fields(start.sum(&:bytesize))]
    body = framing(head)
    [*head, LINE_END, *(pause(head, body) if @expects && !one_in(4)), *body].flatten
  end

  # The client's actions between head and body if it expects a 100. If a 100 is not certain, a cut follows.
  def pause(head, body)
    return %i[cut wait] if @rough == :head

    head.include?("HTTP/1.1") && body.flatten.any? { |octets| !octets.empty? } ? :continue : :wait
  end

  def request_line
    method = one_in(40) ? "CONNECT" : or_bad(METHODS, BAD_METHODS)
    return ["GET", " ", "/#{"a" * edge(:line, 4 + 1 + 9 + 2)}", " ", "HTTP/1.1", LINE_END] if one_in(150)

    version = @rough == :body ? "HTTP/1.1" : or_bad(VERSIONS, BAD_VERSIONS)
    [method, space, *target(method), space, version, broken?(20) ? "\n" : LINE_END]
  end

  def space = broken?(12) ? pick(["  ", "\t", ""]) : " "

  def target(method)
    case method
    when "CONNECT" then one_in(5) ? origin : [host]
    when "OPTIONS" then one_in(2) ? ["*"] : origin
    else
      return [pick(["*", "a:1", "", "a", "://"])] if broken?(10)

      return origin unless one_in(6)

      [or_bad(%w[http:// HTTP:// https://], %w[http: ftp:// ://]), host, *(origin unless one_in(4))]
    end
  end

  def origin
    path = Array.new(1 + @random.rand(3)) { "/#{or_bad(SEGMENTS, BAD_SEGMENTS)}" }
    one_in(3) ? [*path, "?", or_bad(QUERIES, BAD_SEGMENTS)] : path
  end

  def host = or_bad(HOSTS, BAD_HOSTS)

  # +before+: octets of the head before its fields.
  def fields(before)
    lines = [line("Host", host)]
    lines << line("Host", host) if broken?(10)
    lines.clear if broken?(8)
    lines.concat(Array.new(@random.rand(4)) { plain_field })
    lines << line("Connection", pick(OPTIONS)) while one_in(4)
    lines << line("Upgrade", pick(PROTOCOLS)) while one_in(4)
    lines.concat(Array.new(1 + @random.rand(5)) { line("X-App", @answers.directive) }) if one_in(2)
    if one_in(6)
      lines << line("Expect", or_bad(EXPECTS, BAD_EXPECTS))
      @expects = true
    end
    lines.concat(many(lines.size, before + lines.sum(&:bytesize))) if one_in(60)
    lines.shuffle(random: @random)
  end

  def plain_field
    return line("X-Long", "x" * edge(:field, 8 + 2)) if one_in(150)

    line(or_bad(NAMES, BAD_NAMES), or_bad(VALUES, BAD_VALUES))
  end

  # The maximum number of fields, or a head of the maximum length.
  def many(count, octets)
    return Array.new(edge(:fields, count)) { |number| "X-#{number}: 1\r\n" } if one_in(2)

    Array.new(4) { "X-Large: #{"x" * (edge(:head, octets + @random.rand(40)) / 4 - 11)}\r\n" }
  end

  def line(name, value)
    ending = broken?(15) ? pick(["\n", "\r", "\r\n ", "\r\n\t", "\r\r\n", ""]) : LINE_END
    colon = broken?(15) ? pick([" :", "", "::", "\t:"]) : ":"
    "#{name}#{colon}#{pick(BLANKS)}#{value}#{pick(BLANKS) if one_in(4)}#{ending}".b
  end

  # Adds the framing of the body to the head. Returns the body.
  def framing(head)
    return chunked(head) if @rough == :body

    case @random.rand(8)
    when 0, 1 then known_length(head)
    when 2, 3 then head.include?("HTTP/1.0") && !@rough ? [] : chunked(head)
    when 4 then @rough ? contradiction(head) : []
    else @expects && one_in(2) ? known_length(head) : []
    end
  end

  def known_length(head)
    length = or_bad(LENGTHS, BAD_LENGTHS)
    if one_in(6)
      size = pick([0, 1, 65_535, 65_536, 65_537, 70_000])
      head << line("Content-Length", size)
      return ["b" * size]
    end
    head << line("Content-Length", length)
    head << line("Content-Length", one_in(2) ? length : pick(LENGTHS)) if broken?(6)
    length.to_i == 5 ? %w[hello] : []
  end

  def chunked(head)
    head << line("Transfer-Encoding", or_bad(CODINGS, BAD_CODINGS))
    head << line("Transfer-Encoding", or_bad(CODINGS, BAD_CODINGS)) if broken?(10)
    @part = :body
    return ["1\r\nc\r\n" * 300, *last_chunk] if one_in(60)

    [*Array.new(@random.rand(4)) { chunk }, *last_chunk]
  end

  def contradiction(head)
    head << line("Content-Length", pick(LENGTHS + BAD_LENGTHS))
    one_in(2) ? chunked(head) : [*known_length(head)]
  end

  def chunk
    size = pick(SIZES)
    number = size.to_s(16)
    number = pick([number.upcase, "000#{number}", "#{"0" * 1_000}#{number}"]) if one_in(5)
    number = pick(BAD_NUMBERS) % number if broken?(6)
    ending = broken?(6) ? pick(["\n", "\r", "", "x\r\n"]) : LINE_END
    ["#{number}#{extension}#{LINE_END}", "c" * size, ending]
  end

  def extension
    one_in(100) ? ";a=#{"x" * edge(:chunk, 3 + 3 + 2)}" : or_bad(EXTENSIONS, BAD_EXTENSIONS)
  end

  def last_chunk
    trailers = Array.new(one_in(3) ? @random.rand(3) : 0) do
      line(or_bad(one_in(3) ? TRAILERS : NAMES, BAD_NAMES), or_bad(VALUES, BAD_VALUES))
    end
    trailers << "X-Long: #{"x" * edge(:trailer, 8 + 2 + 2)}\r\n" if one_in(100)
    [pick(["0", "0", "0", "00", "000000000000000000"]) + extension + LINE_END, *trailers, LINE_END]
  end

  # A size around a limit, less the size of the other parts.
  def edge(limit, beside)
    [LIMITS.fetch(limit) - beside + @random.rand(-2..2), 1].max
  end

  # The same with one to three errors.
  def wreck(items)
    items = items.reject { |item| item.is_a?(Symbol) }
    (1 + @random.rand(3)).times { change(items, @random.rand(items.size)) unless items.empty? }
    items
  end

  def change(items, index)
    item = items[index]
    case @random.rand(8)
    when 0 then items.delete_at(index)
    when 1 then items.insert(index, item)
    when 2 then items[index] = pick(items)
    when 3 then items.slice!(index..) if one_in(3)
    when 4 then items[index] = octet_changed(item)
    when 5 then items.insert(index, *request.grep(String)) if one_in(3)
    else items.insert(index, pick(NOISE)) && split(items, index + 1)
    end
  end

  def octet_changed(item)
    return item if item.empty?

    item.b.tap { |octets| octets.setbyte(@random.rand(octets.bytesize), @random.rand(256)) }
  end

  # Random octets go into a production as often as between two.
  def split(items, index)
    return if one_in(2) || !(item = items[index]) || item.bytesize < 2

    at = 1 + @random.rand(item.bytesize - 1)
    noise = items.delete_at(index - 1)
    items[index - 1] = item.byteslice(0, at)
    items.insert(index, noise, item.byteslice(at..))
  end

  # Cuts between productions and within them.
  def cut(items)
    share = [3, 10, 30].sample(random: @random)
    items.flat_map do |item|
      next [item] unless item.is_a?(String) && one_in(share)
      next [item, :cut] if item.bytesize < 2

      at = 1 + @random.rand(item.bytesize - 1)
      [item.byteslice(0, at), :cut, item.byteslice(at..)]
    end
  end

  # Whether to break a production. The first broken one ends the connection and hides the others, so few are broken, in
  # the head or in the body.
  def broken?(one_of)
    return false unless @rough == @part && @breaks.positive? && one_in(one_of)

    @breaks -= 1
    true
  end

  def or_bad(good, bad) = broken?(@part == :body ? 4 : 10) ? pick(bad) : pick(good)
  def pick(list) = list[@random.rand(list.size)]
  def one_in(count) = @random.rand(count).zero?
end
