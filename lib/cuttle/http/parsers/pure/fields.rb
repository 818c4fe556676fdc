# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      class Pure
        # The fields of a head that describe its framing and its connection, checked when they arrive.
        class Fields
          NOTES = {
            "host" => :note_host, "content-length" => :note_length, "transfer-encoding" => :note_encoding,
            "connection" => :note_connection, "expect" => :note_expect
          }.freeze
          private_constant :NOTES

          attr_reader :authority, :content_length, :chunked, :expect

          # +target_has_host+: the request target names the authority that applies.
          def initialize(target_has_host:)
            @target_has_host = target_has_host
            @chunked = @expect = @close = @persist = false
          end

          def note(name, value)
            note = NOTES[name.downcase]
            send(note, value) if note
          end

          # Checks the fields together (RFC 9112, 3.2 and 6.3).
          def check(minor)
            raise ParseError, "no Host" if minor == 1 && !@authority
            raise ParseError, "Transfer-Encoding and Content-Length" if @chunked && @content_length
            raise ParseError, "Transfer-Encoding in HTTP/1.0" if @chunked && minor.zero?
          end

          # RFC 9112, 9.3.
          def keep_alive?(minor)
            !@close && (minor == 1 || @persist)
          end

          private

          # RFC 9110, 4.2.1: an http URI has a host. RFC 9112, 3.3 allows a server to reject a request without one.
          def note_host(value)
            raise ParseError, "two Hosts" if @authority

            @authority = Target.authority(value)
            raise ParseError, "an empty Host" if @authority.first.empty? && !@target_has_host
          end

          # RFC 9110, 8.6: digits, in one field. Other implementations might read a list of equal numbers differently.
          def note_length(value)
            raise ParseError, "two Content-Lengths" if @content_length
            raise ParseError, "Content-Length is no number" unless value.match?(/\A\d+\z/n)

            @content_length = value.to_i
            raise ParseError, "Content-Length is too large" if @content_length > Syntax::LENGTH_LIMIT
          end

          # RFC 9112, 6.1 and 6.3: chunked must be the last coding, otherwise nobody knows where the body ends. No other
          # coding is supported.
          def note_encoding(value)
            raise ParseError, "two Transfer-Encodings" if @chunked
            return @chunked = true if value.casecmp?("chunked")

            *others, last = elements(value)
            raise ParseError, "the body has no end" if others.empty? || last != "chunked" || others.include?("chunked")

            raise ParseError.new("a transfer coding that is not known", status: 501)
          end

          def note_connection(value)
            options = elements(value)
            @close ||= options.include?("close")
            @persist ||= options.include?("keep-alive")
          end

          # RFC 9110, 10.1.1: a list. Without an element there is no expectation.
          def note_expect(value)
            expectations = elements(value)
            @expect ||= expectations.any?
            return if expectations.all?("100-continue")

            raise ParseError.new("an expectation that is not known", status: 417)
          end

          def elements(list)
            FieldValue.elements(list.downcase)
          end
        end
      end
    end
  end
end
