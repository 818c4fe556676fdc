# frozen_string_literal: true

# Inputs, and what a parser must make of them. A row with a number is the edge case of that number (the tests over HTTP
# have the same numbers); other rows are rules of this parser.
module ParserRows
  # +want+: the status of the refusal, or a block that gets the heads and the bodies. Rows that are refused may contain
  # requests before: +served+ counts them. +at_once+: exactly the last octet is refused.
  Row = Struct.new(:number, :name, :octets, :want, :served, :at_once, :check, keyword_init: true) do
    def title
      format("%03d_%s", number || 0, name)
    end
  end

  @all = []

  class << self
    attr_reader :all

    private

    def refuse(number, name, octets, want = 400, served: 0)
      @all << Row.new(number: number, name: name, octets: octets.b, want: want, served: served)
    end

    def refuse_at_once(number, octets, want = 400)
      @all << Row.new(number: number, name: "at once #{octets.b[-40..] || octets.b} #{octets.bytesize}".inspect,
                      octets: octets.b, want: want, served: 0, at_once: true)
    end

    def accept(number, name, octets, &check)
      @all << Row.new(number: number, name: name, octets: octets.b, want: :more, check: check)
    end

    # A request with these lines behind its Host.
    def get(*lines, line: "GET / HTTP/1.1")
      "#{[line, "Host: a", *lines].join("\r\n")}\r\n\r\n"
    end

    def host(value)
      "GET / HTTP/1.1\r\nHost: #{value}\r\n\r\n"
    end

    def chunks(text, before: nil)
      "#{get("Transfer-Encoding: chunked", before, line: "POST / HTTP/1.1").sub("\r\n\r\n\r\n", "\r\n\r\n")}#{text}"
    end
  end

  # The request line

  accept(1, "one empty line before", "\r\n#{get}") { |heads| [heads.first.path, "/"] }
  refuse(1, "two empty lines before", "\r\n\r\n#{get}")
  refuse(2, "two spaces", get(line: "GET  / HTTP/1.1"))
  refuse(2, "two spaces before the version", get(line: "GET /  HTTP/1.1"))
  refuse(3, "tabs as separators", get(line: "GET\t/\tHTTP/1.1"))
  refuse(4, "leading space", get(line: " GET / HTTP/1.1"))
  refuse(5, "space behind the version", get(line: "GET / HTTP/1.1 "))
  refuse(6, "bare line feeds", "GET / HTTP/1.1\nHost: a\n\n")
  refuse(6, "one bare line feed", "GET / HTTP/1.1\r\nHost: a\n\r\n")
  refuse(6, "a bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n")
  refuse(6, "a bare line feed before", "\n#{get}")
  refuse(7, "bare carriage returns", "GET / HTTP/1.1\rHost: a\r\r\n")
  refuse(7, "a carriage return before", "\r#{get}")
  refuse(8, "HTTP 0.9", "GET /\r\n")
  accept(9, "HTTP 1.2", get(line: "GET / HTTP/1.2")) { |heads| [heads.first.minor, 1] }
  refuse(10, "textual HTTP 2.0", get(line: "GET / HTTP/2.0"), 505)
  refuse(11, "HTTP 01.1", get(line: "GET / HTTP/01.1"))
  refuse(11, "HTTP 1.10", get(line: "GET / HTTP/1.10"))
  refuse(12, "lower case", get(line: "GET / http/1.1"))
  refuse(13, "NUL in the method", get(line: "G\0T / HTTP/1.1"))
  refuse(13, "no token as method", get(line: "G(T / HTTP/1.1"))
  accept(14, "an unknown method", get(line: "BREW / HTTP/1.1")) { |heads| [heads.first.http_method, "BREW"] }
  accept(14, "methods have a case", get(line: "get / HTTP/1.1")) { |heads| [heads.first.http_method, "get"] }
  accept(15, "a method of 64 octets", get(line: "#{"A" * 64} / HTTP/1.1")) do |heads|
    [heads.first.http_method.size, 64]
  end
  refuse(15, "a method of 65 octets", get(line: "#{"A" * 65} / HTTP/1.1"), 501)
  refuse(15, "a method without end", "A" * 20_000, 501)
  refuse(16, "the preface of HTTP 2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)
  refuse(nil, "a TLS hello, at its first octet", "\x16")

  ["\0", "\n", ":", "\x80", "GE\0", "GE\n", "GE\r", "G{", "GET\t", "GET:", "\rG", "\r\n\r", "\r\n "].each do |octets|
    refuse_at_once(13, octets)
  end
  refuse_at_once(2, "GET  ")
  refuse_at_once(2, "GET /  ")
  refuse_at_once(4, " ")
  %W[GET\s/\x01 GET\s/\x7F GET\s/\x80 GET\s/\r GET\s/\n GET\s/a# GET\s\r].each { |octets| refuse_at_once(103, octets) }
  ["h", "HTX", "HTTP ", "HTTP/\r", "HTTP/1,", "HTTP/1.x", "HTTP/1\r"].each do |version|
    refuse_at_once(12, "GET / #{version}")
  end
  ["GET / HTTP/1.1 ", "GET / HTTP/1.1\t"].each { |octets| refuse_at_once(5, octets) }
  ["GET / HTTP/1.1\n", "GET / HTTP/1.1\r\r", "GET / HTTP/1.1\rH"].each { |octets| refuse_at_once(7, octets) }
  refuse_at_once(11, "GET / HTTP/0")
  refuse_at_once(11, "GET / HTTP/1.10")
  refuse_at_once(10, "GET / HTTP/2", 505)
  refuse_at_once(16, "PRI * HTTP/2", 505)
  refuse_at_once(15, "A" * 65, 501)
  refuse_at_once(104, "GET /#{"a" * (16_384 + 2 - 5)}", 414)

  # The fields

  refuse(17, "space before the colon", get("Foo : x"))
  refuse(17, "tab before the colon", get("Foo\t: x"))
  fields = "GET / HTTP/1.1\r\nHost: a\r\n"
  ["Foo ", "Foo\t", "Foo\r", "Foo\n", "F\0", "F(", "F\x80", ":", " ", "\t", "\n", "\rF", "\r\r"].each do |octets|
    refuse_at_once(28, fields + octets)
  end
  ["Foo: a\0", "Foo:\n", "Foo: a\n", "Foo: a\x7F", "Foo: a\e", "Foo: a\rb", "Foo: a\r\r", "Host: b\0"].each do |octets|
    refuse_at_once(27, fields + octets)
  end
  refuse_at_once(37, "#{fields}#{"A: b\r\n" * 127}A", 431)
  refuse_at_once(37, "#{fields}#{"A: b\r\n" * 127} ", 400)
  refuse_at_once(38, "#{fields}A:#{"b" * 16_384}", 431)
  refuse(18, "space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n")
  refuse(19, "folded line", get("Foo: x", " y"))
  refuse(20, "folded Transfer-Encoding", get("Transfer-Encoding:", "\tchunked"))
  refuse(21, "no colon", get("Foo"))
  refuse(22, "empty name", get(": x"))
  refuse(23, "NUL in the name", get("F\0o: x"))
  refuse(24, "NUL in the value", get("Foo: x\0y"))
  refuse(25, "CR in the value", get("Foo: x\ry"))
  refuse(25, "CR at the end of the value", get("Foo: x\r"))
  refuse(26, "LF in the value", get("Foo: x\ny"))
  ((1..31).to_a - [9, 10, 13] + [127]).each do |octet|
    refuse(27, "control #{octet} in the value", get("Foo: 12345678#{octet.chr}90"))
  end
  "(),/;<=>?@[]{}\\\"".each_char { |sign| refuse(28, "sign #{sign.ord} in the name", get("F#{sign}o: x")) }
  refuse(29, "eight-bit name", get("F\xFCo: x".b))
  accept(30, "eight-bit value", get("Foo: \x80\xFF\xE9".b)) do |heads|
    [heads.first.fields.last, ["Foo", "\x80\xFF\xE9".b]]
  end
  accept(31, "empty value", get("Foo:")) { |heads| [heads.first.fields.last, ["Foo", ""]] }
  accept(31, "blank value", get("Foo: \t ")) { |heads| [heads.first.fields.last, ["Foo", ""]] }
  accept(32, "white space around the value", get("Foo:\t x \ty\t ")) do |heads|
    [heads.first.fields.last, ["Foo", "x \ty"]]
  end
  accept(33, "Content_Length", get("Content_Length: 5")) do |heads, bodies|
    [[heads.first.content_length, bodies], [0, [""]]]
  end
  accept(34, "dash and underscore", get("A-B: 1", "A_B: 2")) do |heads|
    [heads.first.fields.last(2), [%w[A-B 1], %w[A_B 2]]]
  end
  accept(35, "Version", get("Version: x")) { |heads| [heads.first.minor, 1] }
  accept(36, "two Cookies", get("Cookie: a", "Cookie: b")) do |heads|
    [heads.first.fields.last(2), [%w[Cookie a], %w[Cookie b]]]
  end
  accept(37, "128 fields", get(*["A: b"] * 127)) { |heads| [heads.first.fields.size, 128] }
  refuse(37, "129 fields", get(*["A: b"] * 128), 431)
  refuse(37, "10000 fields", get(*["A: b"] * 10_000), 431)
  accept(38, "a field line of 16384 octets", get("A:#{"b" * 16_382}")) do |heads|
    [heads.first.fields.last[1].size, 16_382]
  end
  refuse(38, "a field line of 16385 octets", get("A:#{"b" * 16_383}"), 431)
  refuse(38, "a field line without end", "GET / HTTP/1.1\r\nA:#{"b" * 20_000}", 431)
  refuse(38, "an overlong field line that is wrong too", get("A:#{"\0" * 16_383}"))
  refuse(38, "an overlong field line and a bare LF", "GET / HTTP/1.1\r\nA:#{"b" * 20_000}\n", 431)
  filling = (["A:#{"b" * 16_000}"] * 4)
  rest = 65_536 - get(*filling, "B:").bytesize
  accept(39, "a head of 65536 octets", get(*filling, "B:#{"c" * rest}")) { |heads| [heads.first.bytesize, 65_536] }
  refuse(39, "a head of 65537 octets", get(*filling, "B:#{"c" * (rest + 1)}"), 431)
  refuse(39, "a head of 65538 octets", get(*filling, "B:#{"c" * (rest + 2)}"), 431)

  # Content-Length

  refuse(40, "5 and 6", get("Content-Length: 5", "Content-Length: 6"))
  refuse(41, "5 and 5", get("Content-Length: 5", "Content-Length: 5"))
  refuse(42, "a list", get("Content-Length: 5, 6"))
  refuse(42, "a list of equals", get("Content-Length: 5, 5"))
  { 43 => "+5", 44 => "-1", 45 => "0x5", 46 => "1_0", 47 => "5 5", 48 => "" }.each do |number, length|
    refuse(number, "Content-Length #{length.inspect}", get("Content-Length: #{length}"))
  end
  refuse(nil, "digits that are none of ASCII", get("Content-Length: \u0665"))
  accept(49, "leading zeros", "#{get("Content-Length: 005", line: "POST / HTTP/1.1")}hello") do |_, bodies|
    [bodies, ["hello"]]
  end
  refuse(50, "two to the 64th and 5", get("Content-Length: 18446744073709551621"))
  refuse(50, "two to the 63rd", get("Content-Length: 9223372036854775808"))
  accept(50, "the largest", get("Content-Length: 9223372036854775807")) do |heads|
    [heads.first.content_length, (2**63) - 1]
  end
  accept(51, "a body that is short", "#{get("Content-Length: 5")}hell") do |heads, bodies|
    [[heads.size, bodies], [1, []]]
  end
  accept(52, "GET with a body", "#{get("Content-Length: 5")}hello#{get(line: "GET /2 HTTP/1.1")}") do |heads, bodies|
    [[heads.map(&:path), bodies], [["/", "/2"], ["hello", ""]]]
  end
  refuse(53, "octets beyond the length", "#{get("Content-Length: 5")}hello\1", served: 1)

  # Transfer-Encoding

  refuse(54, "Content-Length and Transfer-Encoding", get("Content-Length: 5", "Transfer-Encoding: chunked"))
  refuse(54, "Transfer-Encoding and Content-Length", get("Transfer-Encoding: chunked", "Content-Length: 5"))
  refuse(54, "Transfer-Encoding and Content-Length 0", get("Transfer-Encoding: chunked", "Content-Length: 0"))
  refuse(55, "a request inside of them", "#{get("Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n#{get}")
  {
    56 => "xchunked", 57 => "chunked, identity", 59 => "chunked, chunked", 61 => "identity", 62 => "",
    63 => "\vchunked", 66 => "\"chunked\""
  }.each { |number, coding| refuse(number, "Transfer-Encoding #{coding.inspect}", get("Transfer-Encoding: #{coding}")) }
  refuse(58, "gzip, chunked", get("Transfer-Encoding: gzip, chunked"), 501)
  refuse(59, "chunked, gzip, chunked", get("Transfer-Encoding: chunked, gzip, chunked"))
  refuse(60, "two lines", get("Transfer-Encoding: chunked", "Transfer-Encoding: identity"))
  refuse(60, "two equal lines", get("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"))
  ["chunked,", ",chunked", ",", "chunked;a=b", "chunked x", "chunked\u00a0"].each do |coding|
    refuse(nil, "Transfer-Encoding #{coding.inspect}", get("Transfer-Encoding: #{coding}"))
  end
  accept(64, "chunked and white space", get("Transfer-Encoding: \tchunked \t")) { |heads| [heads.first.chunked, true] }
  accept(65, "in any case", get("transfer-ENCODING: Chunked")) do |heads|
    [[heads.first.chunked, heads.first.content_length], [true, nil]]
  end
  accept(67, "Transfer_Encoding", get("Transfer_Encoding: chunked")) { |heads| [heads.first.chunked, false] }
  refuse(68, "in HTTP 1.0", get("Transfer-Encoding: chunked", line: "POST / HTTP/1.0"))

  # Chunks

  accept(nil, "chunks", chunks("5\r\nhello\r\n1\r\n \r\na\r\n0123456789\r\n0\r\n\r\n")) do |_, bodies|
    [bodies, ["hello 0123456789"]]
  end
  accept(nil, "chunks of every octet", chunks("100\r\n#{(0..255).map(&:chr).join}\r\n0\r\n\r\n".b)) do |_, bodies|
    [bodies.first.bytes, (0..255).to_a]
  end
  accept(nil, "chunks, and a request behind", chunks("2\r\n\r\n\r\n00\r\n\r\n#{get("X: y")}")) do |heads, bodies|
    [[heads.last.fields.last, bodies], [%w[X y], ["\r\n", ""]]]
  end
  accept(nil, "extensions", chunks("5;a;b=c;d=\"e\\\"\t;\\\\\"\r\nhello\r\n0;z\r\n\r\n")) do |_, bodies|
    [bodies, ["hello"]]
  end
  ["5 ;a", "5; a", "5;a =b", "5;a= b", "5\t ; a\t=\t\"b\" ;c"].each do |size|
    octets = chunks("#{size}\r\nhello\r\n0\r\n\r\n")
    accept(nil, "white space in chunk extension #{size.inspect}", octets) do |_, bodies|
      [bodies, ["hello"]]
    end
  end
  {
    69 => "G", 70 => "0x5", 71 => "+5", 72 => "-5", 73 => " 5", 74 => "5 ", 75 => "5_0", 76 => "10000000000000005",
    78 => "5;", 79 => "5;a\nb", 80 => "5;a\rb", 81 => "5;a=\"b"
  }.each do |number, size|
    refuse(number, "chunk size #{size.inspect}", chunks("#{size}\r\nhello\r\n0\r\n\r\n"), served: 1)
  end
  refuse(76, "two to the 63rd", chunks("8000000000000000\r\n"), served: 1)
  accept(76, "the largest", chunks("7fffffffffffffff\r\nhello")) { |_, bodies| [bodies, []] }
  accept(77, "a thousand leading zeros", chunks("#{"0" * 1000}5\r\nhello\r\n0\r\n\r\n")) do |_, bodies|
    [bodies, ["hello"]]
  end
  refuse(77, "too many leading zeros", chunks("0" * 5000), served: 1)
  [
    "5;;", "5;a=", "5;=b", "5;a=b c", "5;a=\"b\"c", "5;a b", "5;a\"b\"", "5;a=\"\x01\"", "5;\x80", "5\t", "5 ;", "5; ",
    "5 ; ", "5;a ", "5;a\t", "5;a=b ", "5;a=\"b\" ", "5;a= ", "5;a =", "5 a", "5 =a", "5; =a", "5 5", "5;a\v=b",
    "5 ;a;", " 5;a", "5;a= =b", "5;a=b =c", "5;a=\"b\" c", "5;a \"b\""
  ].each do |size|
    refuse(78, "chunk extension #{size.inspect}", chunks("#{size}\r\nhello\r\n0\r\n\r\n".b), served: 1)
  end
  [
    "5 ;a", "5; a", "5;a =b", "5;a= b", "5 ;a=b", "5; a = \"b\"", "5\t \t;\t a \t=\t \"b ;\\\" \"\t;c ; d",
    "5;a ;b=c ;d"
  ].each do |size|
    accept(78, "chunk extension #{size.inspect}", chunks("#{size}\r\nhello\r\n0 ; z\r\n\r\n")) do |_, bodies|
      [bodies, ["hello"]]
    end
  end
  refuse(79, "a chunk line that ends in a bare LF", chunks("5\nhello\r\n0\r\n\r\n"), served: 1)
  accept(82, "a chunk line of 4096 octets", chunks("5;#{"a" * 4092}\r\nhello\r\n0\r\n\r\n")) do |_, bodies|
    [bodies, ["hello"]]
  end
  refuse(82, "a chunk line of 4097 octets", chunks("5;#{"a" * 4093}\r\nhello\r\n0\r\n\r\n"), served: 1)
  many = "5;#{"a" * 4_090}\r\nhello\r\n" * 4 # with their semicolons 16,364 octets of extensions
  accept(82, "16 KB of extensions", chunks("#{many}1;#{"a" * 19}\r\n!\r\n0\r\n\r\n")) do |_, bodies|
    [bodies, ["#{"hello" * 4}!"]]
  end
  refuse(82, "an octet more than 16 KB of extensions", chunks("#{many}1;#{"a" * 20}\r\n!\r\n0\r\n\r\n"), served: 1)
  spaces = " " * 4091
  accept(82, "a chunk line of 4096 octets, mostly spaces", chunks("5#{spaces};a\r\nhello\r\n0\r\n\r\n")) do |_, bodies|
    [bodies, ["hello"]]
  end
  refuse(82, "a chunk line of 4097 octets, mostly spaces", chunks("5#{spaces} ;a\r\n"), served: 1)
  refuse(82, "more than 16 KB of spaces", chunks("1;a=#{" " * 4_000}b\r\n!\r\n" * 5), served: 1)
  refuse(82, "64 KB of extension", chunks("5;a=\"#{"a" * 65_536}"), served: 1)
  refuse(83, "no CRLF behind the data", chunks("5\r\nhello0\r\n\r\n"), served: 1)
  refuse(83, "an LF behind the data", chunks("5\r\nhello\n0\r\n\r\n"), served: 1)
  refuse(83, "a CR behind the data", chunks("5\r\nhello\r0\r\n\r\n"), served: 1)
  refuse(84, "more data than the size", chunks("4\r\nhello\r\n0\r\n\r\n"), served: 1)
  accept(85, "no last chunk", chunks("5\r\nhello\r\n")) { |heads, bodies| [[heads.size, bodies], [1, []]] }
  accept(85, "no end of the trailer section", chunks("5\r\nhello\r\n0\r\n")) do |heads, bodies|
    [[heads.size, bodies], [1, []]]
  end
  framing = "Content-Length: 5\r\nTransfer-Encoding: x\r\nHost:\r\n"
  accept(86, "trailers", chunks("0\r\n#{framing}\r\n#{get}")) do |heads, bodies|
    [[heads.size, bodies], [2, ["", ""]]]
  end
  refuse(87, "a trailer that ends in LF", chunks("0\r\nA: b\n\r\n"), served: 1)
  refuse(87, "a trailer section that ends in LF", chunks("0\r\nA: b\r\n\n"), served: 1)
  ["A : b", " A: b", ":b", "A", "A: b\0", "A: b\rc"].each do |line|
    refuse(87, "trailer #{line.inspect}", chunks("0\r\n#{line}\r\n\r\n"), served: 1)
  end
  accept(87, "trailers of 16384 octets", chunks("0\r\nA:#{"b" * 16_378}\r\n\r\n")) { |_, bodies| [bodies, [""]] }
  refuse(87, "trailers of 16385 octets", chunks("0\r\nA:#{"b" * 16_379}\r\n\r\n"), 431, served: 1)
  refuse(87, "trailers of many lines", chunks("0\r\n#{"A: b\r\n" * 3000}\r\n"), 431, served: 1)
  accept(88, "many small chunks", chunks("#{"1\r\nx\r\n" * 5_000}0\r\n\r\n")) do |_, bodies|
    [bodies.map(&:size), [5_000]]
  end

  # Host and target

  authority = ->(heads) { [heads.first.host, heads.first.port] }
  refuse(89, "no Host", "GET / HTTP/1.1\r\n\r\n")
  refuse(90, "two Hosts", get("Host: a"))
  refuse(91, "a list", host("a, b"))
  refuse(91, "a list without a space", host("a,b"))
  refuse(92, "user information", host("u@a"))
  refuse(93, "a path", host("a/x"))
  %w(a:xx a:-1 a:65536 a:99999999999999999999 a:1:2 :80 a:+1 a%2 a%zz a? a# a\\ <a> [::1 ::1 [::1]x [::1]:x
     [] [:] [:::]).each do |value|
    refuse(94, "Host #{value.inspect}", host(value))
  end
  %w([1] [1:2:3:4:5:6:7] [1:2:3:4:5:6:7:8:9] [1::2::3] [12345::] [::g] [::1.2.3] [::1.2.3.256] [::1.2.3.4.5] [1.2.3.4::]
     [1:2:3:4:5:6:7:1.2.3.4] [1:2:3:4:5:6:7:8::] [::1%25eth0] [fe80::1%eth0] [v.a] [v1.]
     [v1.%41] [v1] [vg.a]).each do |value|
    refuse(94, "Host #{value.inspect}", host(value))
  end
  accept(95, "an IPv6 address", host("[::1]:80")) { |heads| [authority.(heads), ["[::1]", "80"]] }
  %w([::] [1::] [1:2:3:4:5:6:7:8] [1:2:3:4:5:6:7::] [::2:3:4:5:6:7:8] [1:2::7:8] [ABCD:ef01::] [::ffff:1.2.3.4]
     [1:2:3:4:5:6:1.2.3.4] [v1.a:b] [VF.~]).each do |value|
    accept(95, "Host #{value}", host(value)) { |heads| [authority.(heads), [value, ""]] }
  end
  {
    "a:" => ["a", ""], "A.b-c_d~e:00080" => ["A.b-c_d~e", "00080"], "a:65535" => ["a", "65535"], "a:0" => %w[a 0],
    "127.0.0.1" => ["127.0.0.1", ""], "a%41" => ["a%41", ""], "!$&'()*+;=" => ["!$&'()*+;=", ""]
  }.each { |value, parts| accept(nil, "Host #{value}", host(value)) { |heads| [authority.(heads), parts] } }
  refuse(94, "an empty Host", host(""))
  refuse(94, "a Host of white space", host("\t "))
  refuse(94, "an empty Host in HTTP 1.0", "GET / HTTP/1.0\r\nHost:\r\n\r\n")
  refuse(94, "an empty Host for OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n")
  accept(97, "an empty Host beside an absolute form", "GET http://b/ HTTP/1.1\r\nHost:\r\n\r\n") do |heads|
    [authority.(heads), ["b", ""]]
  end
  accept(96, "HTTP 1.0 without Host", "GET / HTTP/1.0\r\n\r\n") { |heads| [authority.(heads), [nil, ""]] }
  refuse(96, "HTTP 1.0 with two Hosts", get("Host: a", line: "GET / HTTP/1.0"))
  accept(97, "absolute form", get(line: "GET http://b:81/x?y HTTP/1.1")) do |heads|
    head = heads.first
    [[head.target, head.path, head.query, head.host, head.port], ["http://b:81/x?y", "/x", "y", "b", "81"]]
  end
  accept(97, "absolute form without a path", get(line: "GET HTTPS://b?y HTTP/1.1")) do |heads|
    [[heads.first.path, heads.first.query, heads.first.host], ["", "y", "b"]]
  end
  accept(97, "absolute form of an address", get(line: "GET http://[::1]:81 HTTP/1.1")) do |heads|
    [authority.(heads), ["[::1]", "81"]]
  end
  refuse(97, "absolute form and a Host that is wrong", "GET http://b/ HTTP/1.1\r\nHost: u@a\r\n\r\n")
  refuse(97, "absolute form without Host", "GET http://b/ HTTP/1.1\r\n\r\n")
  %w(http:// http:///x http://?x http://:80/ http://u@b/ http:/b http:b https:/ ftp://b/ http://b:x/ http://b:1:2/
     http://[::1/ httpx://b/ x ?x).each do |target|
    refuse(101, "target #{target}", get(line: "GET #{target} HTTP/1.1"))
  end
  accept(nil, "two slashes are a path", get(line: "GET //b/c HTTP/1.1")) do |heads|
    [[heads.first.path, heads.first.host], ["//b/c", "a"]]
  end
  refuse(98, "GET *", get(line: "GET * HTTP/1.1"))
  refuse(98, "OPTIONS **", get(line: "OPTIONS ** HTTP/1.1"))
  accept(99, "OPTIONS *", get(line: "OPTIONS * HTTP/1.1")) do |heads|
    [[heads.first.path, heads.first.query], ["*", nil]]
  end
  refuse(100, "CONNECT", get(line: "CONNECT a:80 HTTP/1.1"), 501)
  refuse(101, "authority form", get(line: "GET a:80 HTTP/1.1"))
  accept(102, "%00 in the path", get(line: "GET /%00%zz%2e HTTP/1.1")) { |heads| [heads.first.path, "/%00%zz%2e"] }
  refuse(103, "a raw eight-bit octet in the path", get(line: "GET /\xFF HTTP/1.1".b))
  refuse(103, "NUL in the path", get(line: "GET /\0 HTTP/1.1"))
  refuse(103, "DEL in the path", get(line: "GET /\x7F HTTP/1.1"))
  refuse(103, "a fragment", get(line: "GET /a#b HTTP/1.1"))
  accept(nil, "what browsers leave as it is", get(line: "GET /\"<>[]^`{|}\\?a=[b]|? HTTP/1.1")) do |heads|
    [[heads.first.path, heads.first.query], ["/\"<>[]^`{|}\\", "a=[b]|?"]]
  end
  accept(nil, "an empty query", get(line: "GET /? HTTP/1.1")) { |heads| [heads.first.query, ""] }
  accept(104, "a request line of 16384 octets", get(line: "GET /#{"a" * 16_370} HTTP/1.1")) do |heads|
    [heads.first.path.size, 16_371]
  end
  refuse(104, "a request line of 16385 octets", get(line: "GET /#{"a" * 16_371} HTTP/1.1"), 414)
  refuse(104, "a target of 100 KB", get(line: "GET /#{"a" * 102_400} HTTP/1.1"), 414)

  # The connection

  accept(105, "three pipelined", [1, 2, 3].map { |at| get(line: "GET /#{at} HTTP/1.1") }.join) do |heads|
    [heads.map(&:path), %w[/1 /2 /3]]
  end
  refuse(106, "pipelined behind a refusal", "#{get}BAD\r\n\r\n#{get}", served: 1)
  {
    "close" => false, "Close" => false, "keep-alive" => true, "close, keep-alive" => false, ",,close" => false,
    "keep-alive ,\tCLOSE" => false, "closed" => true, "x close" => true, "" => true, "upgrade" => true
  }.each do |options, kept|
    accept(107, "Connection #{options.inspect}", get("Connection: #{options}")) do |heads|
      [heads.first.keep_alive, kept]
    end
  end
  accept(107, "close in a second field", get("Connection: keep-alive", "Connection: close")) do |heads|
    [heads.first.keep_alive, false]
  end
  accept(107, "close in a first field", get("Connection: close", "Connection: keep-alive")) do |heads|
    [heads.first.keep_alive, false]
  end
  { nil => false, "Keep-Alive" => true, "x, keep-alive" => true, "keep-alive, close" => false }.each do |options, kept|
    octets = get("Connection: #{options}", line: "GET / HTTP/1.0")
    accept(108, "HTTP 1.0, Connection #{options.inspect}", octets) do |heads|
      [heads.first.keep_alive, kept]
    end
  end
  accept(109, "Expect", get("Expect: 100-Continue", "Content-Length: 5")) do |heads, bodies|
    [[heads.first.expect_continue, bodies], [true, []]]
  end
  accept(110, "Expect in HTTP 1.0", get("Expect: 100-continue", line: "GET / HTTP/1.0")) do |heads|
    [heads.first.expect_continue, false]
  end
  ["100-continue, 100-Continue", ",100-continue", "100-continue ,\t,"].each do |list|
    accept(109, "Expect #{list.inspect}", get("Expect: #{list}", "Content-Length: 5")) do |heads|
      [heads.first.expect_continue, true]
    end
  end
  accept(109, "two Expects", get("Expect: 100-continue", "Expect:", "Content-Length: 5")) do |heads|
    [heads.first.expect_continue, true]
  end
  ["", ",", " ,\t,"].each do |list|
    accept(109, "Expect #{list.inspect} without an element", get("Expect: #{list}", "Content-Length: 5")) do |heads|
      [heads.first.expect_continue, false]
    end
  end
  refuse(111, "an expectation that is not known", get("Expect: 200-ok"), 417)
  ["100-continue, 200-ok", "200-ok, 100-continue", "100-continue;a", "100-continue 100-continue", "\"100-continue\"",
   "100-continue=", "100-continu"].each { |list| refuse(111, "Expect #{list.inspect}", get("Expect: #{list}"), 417) }
  accept(112, "Upgrade", get("Upgrade: websocket", "Connection: upgrade")) do |heads, bodies|
    [[heads.size, bodies], [1, [""]]]
  end

  @all.freeze
end
