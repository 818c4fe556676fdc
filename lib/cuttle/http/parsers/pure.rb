# frozen_string_literal: true

require "cuttle/http/parsers/syntax"
require "cuttle/http/parsers/pure/chunks"
require "cuttle/http/parsers/pure/fields"
require "cuttle/http/parsers/pure/lines"
require "cuttle/http/parsers/pure/target"

module Cuttle
  module Http
    module Parsers
      # The parser in Ruby. Its verdicts are the native parser's, on every input and however that is cut into pieces:
      # a test compares the two, so each is the other's oracle. Whoever wants to know what Cuttle accepts reads this.
      #
      #   pure/lines.rb   octets into lines, and their limits
      #   pure/target.rb  request targets and authorities
      #   pure/fields.rb  what fields say of the message's framing
      #   pure/chunks.rb  the chunked coding
      class Pure
        REQUEST_LINE = /\A([#{Syntax::TOKEN}]+) ([^ ]*) ?(.*)\z/mn.freeze
        WHOLE_TARGET = /\A[#{Syntax::TARGET}]+\z/n.freeze
        VERSION = %r{\AHTTP/(\d)\.(\d)\z}n.freeze
        FIELD_LINE = /\A([#{Syntax::TOKEN}]+):(.*)\z/mn.freeze
        FIELD_VALUE = /\A[#{Syntax::VALUE}]*\z/n.freeze
        private_constant :REQUEST_LINE, :WHOLE_TARGET, :VERSION, :FIELD_LINE, :FIELD_VALUE

        def self.study_only?
          false
        end

        def initialize
          begin_request
        end

        # See Parsers.
        def head(bytes)
          head = read_head(bytes) or return
          begin_request
          head
        rescue ParseError
          begin_request
          raise
        end

        # See Parsers.
        def chunks(bytes)
          @chunks.decode(bytes)
        end

        private

        def begin_request
          @lines = Lines.new
          @chunks = Chunks.new
          @head = nil
        end

        def read_head(bytes)
          while (line = @lines.next(bytes))
            return conclude if line.empty?

            @head ? add_field(line) : start(line)
          end
        end

        # RFC 9112, 3.
        def start(line)
          method, target, version = line.match(REQUEST_LINE)&.captures
          raise ParseError, "the request line is malformed" unless method
          raise ParseError.new("the method is too long", status: 501) if method.bytesize > Syntax::METHOD_LIMIT
          raise ParseError, "the request target holds an octet it may not" unless WHOLE_TARGET.match?(target)

          minor = minor_of(version)
          path, query, host, port = Target.parse(method, target)
          @head = Head.new(http_method: method, target: target, path: path, query: query, host: host, port: port || "",
                           minor: minor, fields: [])
          @fields = Fields.new
        end

        # RFC 9112, 2.3, and RFC 9110, 2.5: a higher minor version is read as the highest that is known.
        def minor_of(version)
          major, minor = version.match(VERSION)&.captures
          raise ParseError, "the HTTP version is malformed" unless major
          raise ParseError.new("HTTP version #{major} is not served", status: 505) unless major == "1"

          minor == "0" ? 0 : 1
        end

        # RFC 9112, 5.
        def add_field(line)
          name, value = line.match(FIELD_LINE)&.captures
          raise ParseError, "a field line is malformed" unless name
          raise ParseError.new("too many fields", status: 431) if @head.fields.size == Syntax::FIELDS_LIMIT
          raise ParseError, "a field's value holds an octet it may not" unless FIELD_VALUE.match?(value)

          value = value.sub(/\A[ \t]+/n, "").sub(/[ \t]+\z/n, "")
          @head.fields << [name, value]
          @fields.note(name, value)
        end

        def conclude
          @fields.check(@head.minor)
          @head.host, @head.port = @fields.authority if @head.host.nil? && @fields.authority
          @head.content_length = @fields.chunked ? nil : @fields.content_length || 0
          @head.chunked = @fields.chunked
          @head.keep_alive = @fields.keep_alive?(@head.minor)
          @head.expect_continue = @fields.expect && @head.minor == 1
          @head.bytesize = @lines.position
          @head
        end
      end
    end
  end
end
