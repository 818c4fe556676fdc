# frozen_string_literal: true

require "socket"
require "uri"
require_relative "eventually"

# A client that sends the given bytes, unchanged, and reads responses strictly. Every wait has a deadline.
class RawClient
  # The server sent something that is not an HTTP response.
  class Malformed < StandardError; end

  # text:: the response as it came, with its framing; fields:: [[name, value], …]; body:: without chunk framing;
  # framing:: :none, :length, :chunked or :close; complete:: false where the connection ended too early.
  Response = Struct.new(:text, :status, :fields, :body, :framing, :complete, keyword_init: true) do
    # The value of the field called +name+ (any case), several joined with ", "; nil without one.
    def [](name)
      values = fields.select { |key, _| key.casecmp?(name) }.map(&:last)
      values.join(", ") unless values.empty?
    end

    def complete?
      complete
    end
  end

  # Whether no process listens on that port of 127.0.0.1. (A listener that is just closing may reset the connection.)
  def self.refused?(port)
    Socket.tcp("127.0.0.1", port).close
    false
  rescue Errno::ECONNREFUSED, Errno::ECONNRESET
    true
  end

  # A server (anything with +url+), or one of its URIs: http://host:port or unix:///path.
  def self.open(server, timeout: Eventually::PATIENCE)
    uri = server.respond_to?(:url) ? server.url : server.to_s
    client = new(uri, timeout)
    return client unless block_given?

    begin
      yield client
    ensure
      client.close
    end
  end

  attr_reader :socket

  def initialize(uri, timeout)
    @timeout = timeout
    @socket = connect(uri)
    @buffer = "".b
    @ended = false
  end

  # Sends +bytes+. If the server has closed meanwhile, that is no error here: its earlier octets are still read.
  def write(bytes)
    rest = bytes.b
    until rest.empty?
      sent = @socket.write_nonblock(rest, exception: false)
      sent == :wait_writable ? wait(:writable) : rest = rest.byteslice(sent..)
    end
    self
  rescue Errno::EPIPE, Errno::ECONNRESET
    self
  end

  # Sends FIN, and continues to read.
  def half_close
    @socket.close_write
    self
  end

  # Closes with RST.
  def reset
    @socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
    @socket.close
  end

  def close
    @socket.close unless @socket.closed?
  end

  # The next final response (with +interim+, interim ones too), nil if the server closed without one. +request+ is the
  # method that was sent: a response to HEAD has no body.
  def response(request: "GET", interim: false)
    loop do
      answer = next_response(request)
      return answer if answer.nil? || interim || answer.status >= 200 || answer.status == 101
    end
  end

  # Everything until the server closes. Raises if it doesn't close.
  def read_to_end
    nil while fill
    take(@buffer.bytesize)
  end

  # Waits until the server has closed and everything that it sent was read.
  def closed?
    @buffer.empty? && !fill
  end

  # At least one octet, or nil at the end.
  def read_some
    fill if @buffer.empty?
    take(@buffer.bytesize) unless @buffer.empty?
  end

  private

  def connect(uri)
    return UNIXSocket.new(uri.delete_prefix("unix://")) if uri.start_with?("unix:")

    address = URI(uri)
    Socket.tcp(address.hostname, address.port, connect_timeout: @timeout)
  end

  # More octets into the buffer; nil at the end of the stream.
  def fill
    return if @ended

    bytes = @socket.read_nonblock(65_536, room, exception: false)
    return wait(:readable) && fill if bytes == :wait_readable

    @ended = bytes.nil?
    @buffer << bytes if bytes
  rescue Errno::ECONNRESET
    @ended = true
    nil
  end

  def wait(event)
    readable = event == :readable ? [@socket] : nil
    writable = event == :writable ? [@socket] : nil
    IO.select(readable, writable, nil, @timeout) or
      raise "nothing #{event} within #{@timeout} s; so far: #{@buffer[0, 500].inspect}"
  end

  # All of it without a copy: it may be megabytes.
  def take(count)
    return @buffer.slice!(0, count) if count < @buffer.bytesize

    @buffer.tap { @buffer = "".b }
  end

  # One String for the reads of a thread's clients, so that clients don't make Ruby collect garbage.
  def room
    Thread.current[:raw_client_room] ||= "".b
  end

  def next_response(request)
    head = read_head or return
    status, fields = parse_head(head)
    answer = Response.new(text: head, status: status, fields: fields, body: "".b, complete: true)
    answer.framing = framing(answer, request)
    read_body(answer)
    answer
  end

  def read_head
    fill until @buffer.include?("\r\n\r\n") || @ended
    return take(@buffer.index("\r\n\r\n") + 4) if @buffer.include?("\r\n\r\n")
    raise Malformed, "half a head: #{@buffer.inspect}" unless @buffer.empty?
  end

  def parse_head(head)
    line, *fields = head.delete_suffix("\r\n\r\n").split("\r\n", -1)
    match = %r{\AHTTP/1\.[01] (\d{3}) [\t\x20-\x7e\x80-\xff]*\z}n.match(line) or
      raise Malformed, "status line #{line.inspect}"
    [match[1].to_i, fields.map { |field| parse_field(field) }]
  end

  def parse_field(field)
    match = /\A([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*\z/n.match(field) or
      raise Malformed, "field #{field.inspect}"
    match.captures
  end

  # RFC 9112, 6.3.
  def framing(answer, request)
    return :none if request == "HEAD" || answer.status < 200 || [204, 304].include?(answer.status)
    return :chunked if answer["transfer-encoding"]
    return :close unless (length = answer["content-length"])

    raise Malformed, "Content-Length #{length.inspect}" unless length.match?(/\A\d+\z/)

    :length
  end

  def read_body(answer)
    case answer.framing
    when :length then read_length(answer, answer["content-length"].to_i)
    when :chunked then nil while read_chunk(answer)
    when :close then answer.text << (answer.body = read_to_end)
    end
  end

  def read_length(answer, length)
    fill until @buffer.bytesize >= length || @ended
    answer.complete = @buffer.bytesize >= length
    answer.text << (answer.body = take(length))
  end

  # Adds a chunk's data; nil after the last chunk, and where the stream ends before it.
  def read_chunk(answer)
    line = read_line or return answer.complete = nil
    size = line[/\A(\h+)\r\n\z/, 1] or raise Malformed, "chunk size #{line.inspect}"
    answer.text << line
    return read_trailer(answer) if size.hex.zero?

    fill until @buffer.bytesize >= size.hex + 2 || @ended
    return answer.complete = nil if @buffer.bytesize < size.hex + 2

    data = take(size.hex + 2)
    raise Malformed, "no CRLF after a chunk" unless data.end_with?("\r\n")

    answer.text << data
    answer.body << data.byteslice(0, size.hex)
  end

  def read_trailer(answer)
    loop do
      line = read_line or return answer.complete = nil
      answer.text << line
      return if line == "\r\n"

      parse_field(line.delete_suffix("\r\n"))
    end
  end

  def read_line
    fill until @buffer.include?("\r\n") || @ended
    take(@buffer.index("\r\n") + 2) if @buffer.include?("\r\n")
  end
end
