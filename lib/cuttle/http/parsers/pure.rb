# frozen_string_literal: true

require "cuttle/http/field_value"
require "cuttle/http/head"
require "cuttle/http/parsers/syntax"
require "cuttle/http/parsers/pure/chunks"
require "cuttle/http/parsers/pure/fields"
require "cuttle/http/parsers/pure/lines"
require "cuttle/http/parsers/pure/target"

module Cuttle
  module Http
    module Parsers
      # The parser in Ruby. It accepts and rejects the same input as the native parser, however the input is cut into
      # pieces. A test compares the two, so each is the oracle of the other. Read this parser to learn what Cuttle
      # accepts.
      #
      #   pure/lines.rb   octets into lines and their parts, and their limits
      #   pure/target.rb  request targets and authorities
      #   pure/fields.rb  fields that describe the message's framing
      #   pure/chunks.rb  the chunked coding
      class Pure
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
          while (parts = @lines.next(bytes))
            return conclude if parts.empty?

            @head ? add_field(*parts) : start(*parts)
          end
        end

        # RFC 9112, 3.
        def start(method, target, version)
          path, query, host, port = Target.parse(method, target)
          @head = Head.new(http_method: method, target: target, path: path, query: query, host: host, port: port || "",
                           minor: version.end_with?("0") ? 0 : 1, fields: [])
          @fields = Fields.new(target_has_host: !host.nil?)
        end

        # RFC 9112, 5.
        def add_field(name, value)
          value = FieldValue.trim(value)
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
