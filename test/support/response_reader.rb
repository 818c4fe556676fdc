# frozen_string_literal: true

# Reads one HTTP/1.1 response from a source of octets (+line+, +exactly+, +to_end+), strictly by RFC 9112: a response
# that clients might read in two ways is Malformed.
class ResponseReader
  class Malformed < StandardError; end

  # +framing+: how the end of the body was indicated: :none, :length, :chunked or :close. Fields are [[name, value], …].
  Response = Struct.new(:version, :status, :reason, :fields, :body, :trailers, :framing, keyword_init: true) do
    # Every value of a field, in order.
    def all(name) = fields.filter_map { |key, value| value if key.casecmp?(name) }

    # The value of a field that came at most once.
    def [](name)
      values = all(name)
      raise Malformed, "#{name} came #{values.size} times" if values.size > 1

      values.first
    end

    def interim? = status < 200

    # Whether the server announces that it will close.
    def close? = all("connection").any? { |value| value.split(/\s*,\s*/).any? { |word| word.casecmp?("close") } }
  end

  STATUS_LINE = %r{\AHTTP/(1\.[01]) ([1-9]\d\d) ([\t \x21-\x7e\x80-\xff]*)\z}n
  FIELD = /\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*\z/n
  CHUNK_SIZE = /\A\h+\z/
  HOP_BY_HOP = %w[transfer-encoding content-length host].freeze

  def initialize(source)
    @source = source
  end

  def read(head: false)
    version, status, reason = status_line
    response = Response.new(version: version, status: status, reason: reason, fields: fields, trailers: [])
    response.framing = framing(response, head)
    response.body = body(response)
    response
  end

  private

  def status_line
    line = @source.line
    match = STATUS_LINE.match(line) or raise Malformed, "status line #{line.inspect[0, 200]}"
    [match[1], match[2].to_i, match[3]]
  end

  def fields
    fields = []
    until (line = @source.line).empty?
      match = FIELD.match(line) or raise Malformed, "field line #{line.inspect[0, 200]}"
      fields << [match[1], match[2]]
    end
    fields
  end

  # RFC 9112, 6.3. Anything that a sender must not do is an error.
  def framing(response, head)
    lengths = response.all("content-length")
    codings = response.all("transfer-encoding")
    bodiless = response.interim? || response.status == 204
    raise Malformed, "both a length and a transfer coding" if lengths.any? && codings.any?
    raise Malformed, "framing on a #{response.status}" if bodiless && (lengths + codings).any?
    raise Malformed, "Content-Length #{lengths.inspect}" unless lengths.size < 2 && lengths.grep_v(/\A\d+\z/).empty?
    raise Malformed, "Transfer-Encoding #{codings.inspect}" unless codings.empty? || codings == ["chunked"]
    raise Malformed, "chunked to HTTP/1.0" if codings.any? && response.version == "1.0"
    return :none if head || bodiless || response.status == 304

    codings.any? ? :chunked : (lengths.any? ? :length : :close)
  end

  def body(response)
    case response.framing
    when :none then "".b
    when :length then @source.exactly(response["content-length"].to_i)
    when :chunked then chunked(response)
    when :close then @source.to_end
    end
  end

  def chunked(response)
    body = "".b
    until (size = chunk_size).zero?
      body << @source.exactly(size)
      raise Malformed, "no CRLF after a chunk" unless @source.exactly(2) == "\r\n"
    end
    response.trailers = fields
    framed = response.trailers.map { |name, _| name.downcase } & HOP_BY_HOP
    raise Malformed, "#{framed.join(", ")} in the trailer" if framed.any?

    body
  end

  def chunk_size
    line = @source.line
    raise Malformed, "chunk size #{line.inspect[0, 200]}" unless CHUNK_SIZE.match?(line)

    line.hex
  end
end
