# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      class Pure
        # The lines of a head, one after the other, while its octets come. A line's fate never depends on how it was cut
        # into pieces: what is wrong with its first octet comes before its length, its length before the rest.
        class Lines
          TOKEN_OCTET = /\A[#{Syntax::TOKEN}]/n.freeze
          private_constant :TOKEN_OCTET

          # Octets that the lines handed out took.
          attr_reader :position

          def initialize
            @position = @searched = 0
            @blank = @started = false
          end

          # The next line without its CRLF, "" for the one that ends the head; nil while it is incomplete.
          def next(bytes)
            return unless begun?(bytes)
            return finish(bytes) if bytes.getbyte(@position) == 13 && (@started || !@blank)

            check_start(bytes)
            newline = bytes.index("\n", [@searched, @position].max)
            return incomplete(bytes) unless newline && newline < limit
            raise ParseError, "a line ends without a carriage return" unless bytes.getbyte(newline - 1) == 13

            @started = true
            take(bytes, newline + 1)
          end

          private

          # The offset that the line has to end before.
          def limit
            line = @started ? Syntax::FIELD_LINE_LIMIT : Syntax::REQUEST_LINE_LIMIT
            [@position + line + 2, Syntax::HEAD_LIMIT].min
          end

          def begun?(bytes)
            raise_too_long(bytes) if @position == Syntax::HEAD_LIMIT
            bytes.bytesize > @position
          end

          # No line begins with white space (RFC 9112, 2.2 and 5.2), or with anything else that is no token's: said at
          # once, for a peer that speaks another protocol may never send a line's end.
          def check_start(bytes)
            return if TOKEN_OCTET.match?(bytes.byteslice(@position, 1))

            raise ParseError, "a line begins with an octet it may not"
          end

          def incomplete(bytes)
            raise_too_long(bytes) if bytes.bytesize >= limit
            @searched = bytes.bytesize
            nil
          end

          # An empty line: the head's end; or, once, forgiven before the request line (RFC 9112, 2.2).
          def finish(bytes)
            return incomplete(bytes) if [bytes.bytesize, limit].min == @position + 1
            raise ParseError, "a carriage return without a line feed" unless bytes.getbyte(@position + 1) == 10

            @started ? take(bytes, @position + 2) : forgive(bytes)
          end

          def forgive(bytes)
            @blank = true
            take(bytes, @position + 2)
            self.next(bytes)
          end

          def take(bytes, behind)
            line = bytes.byteslice(@position, behind - 2 - @position)
            @position = behind
            line
          end

          def raise_too_long(bytes)
            raise ParseError.new("the head is too large", status: 431) if @started

            spaced = bytes.byteslice(@position, Syntax::METHOD_LIMIT + 1).include?(" ")
            raise ParseError.new("the request line is too long", status: spaced ? 414 : 501)
          end
        end
      end
    end
  end
end
