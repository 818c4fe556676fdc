# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      class Pure
        # The chunked coding (RFC 9112, 7.1), as two grammars: one for a whole line, one for the beginning of a line.
        #
        #   size --> data --> data_end --> size
        #     `-- 0 --> trailer --empty line--> done
        class Chunks
          name = "[#{Syntax::TOKEN}]+"
          quoted = "\"(?:[#{Syntax::QUOTED}]|\\\\[#{Syntax::VALUE}])*"
          space = "[ \\t]*" # BWS (RFC 9112, 7.1.1): only before another element, never at a line's end
          extensions = "(?:#{space};#{space}#{name}(?:#{space}=#{space}(?:#{name}|#{quoted}\"))?)*"
          extension_beginning = "#{space}(?:;#{space}(?:#{name}#{space}(?:=#{space}(?:#{quoted}\\\\?)?)?)?)?"
          SIZE_LINE = /\G(\h+)#{extensions}\r\n/n
          SIZE_BEGINNING = /\A(?:(?<size>\h+)#{extensions}(?:\r|#{extension_beginning}))?\z/n
          TRAILER_LINE = /\G(?:#{name}:[#{Syntax::VALUE}]*)?\r\n/n
          TRAILER_BEGINNING = /\A(?:\r|#{name}(?::[#{Syntax::VALUE}]*\r?)?)?\z/n
          private_constant :SIZE_LINE, :SIZE_BEGINNING, :TRAILER_LINE, :TRAILER_BEGINNING

          def initialize
            @phase = :size
            @rest = "".b # of an incomplete line
            @trailer = 0    # octets of the trailer section so far
            @extensions = 0 # octets of the extensions so far
            @left = 0       # octets of the chunk's data to come
          end

          # See Parsers#chunks. Consumes everything up to the end of the body.
          def decode(bytes)
            @octets = @rest.empty? ? bytes : @rest + bytes
            kept = @rest.bytesize
            @at = 0
            @data = "".b
            nil while @phase != :done && send(@phase)
            @rest = @phase == :done ? "".b : @octets.byteslice(@at..)
            [@phase == :done ? @at - kept : bytes.bytesize, @data, @phase == :done]
          end

          private

          # Each phase returns true when it has reached its end.

          def size
            before = @at
            digits = line(SIZE_LINE, SIZE_BEGINNING, Syntax::CHUNK_LINE_LIMIT, 400) or return
            @extensions = check_extensions(@at - before - 2 - digits.bytesize)
            @left = check_size(digits)
            @phase = @left.zero? ? :trailer : :data
          end

          def data
            piece = @octets.byteslice(@at, [@left, @octets.bytesize - @at].min) # JRuby takes no length beyond 31 bits
            @data << piece
            @at += piece.bytesize
            @left -= piece.bytesize
            @phase = :data_end if @left.zero?
          end

          def data_end
            found = @octets.byteslice(@at, 2)
            raise ParseError, "a chunk is longer than its size" unless "\r\n".start_with?(found)
            return if found.bytesize < 2

            @at += 2
            @phase = :size
          end

          # The form of trailer fields is checked; then they are dropped (RFC 9112, 7.1.2).
          def trailer
            before = @at
            line(TRAILER_LINE, TRAILER_BEGINNING, Syntax::TRAILER_LIMIT - @trailer, 431) or return
            @trailer += @at - before
            @phase = :done if @at - before == 2
            true
          end

          # Takes a line of at most +limit+ octets. Returns its first capture, or the whole line; nil while it is
          # incomplete.
          def line(whole, beginning, limit, status)
            newline = @octets.index("\n", @at)
            return unfinished(beginning, limit, status) unless newline && newline - @at < limit

            match = @octets.match(whole, @at)
            raise ParseError, "a line of the chunked coding is malformed" unless match && match.end(0) == newline + 1

            @at = newline + 1
            match[1] || match[0]
          end

          def unfinished(beginning, limit, status)
            match = @octets.byteslice(@at, limit).match(beginning)
            raise ParseError, "a line of the chunked coding is malformed" unless match

            if @phase == :size
              check_size(match[:size])
              check_extensions(match[0].chomp("\r").bytesize - match[:size].to_s.bytesize)
            end
            return if @octets.bytesize - @at <= limit

            raise ParseError.new("a line of the chunked coding is too long", status: status)
          end

          # The length of the body's extensions so far plus +octets+. Extensions are skipped, but without a limit they
          # could take time without end.
          def check_extensions(octets)
            return @extensions + octets if @extensions + octets <= Syntax::EXTENSIONS_LIMIT

            raise ParseError, "the chunks' extensions are too long"
          end

          # Digits, possibly not all of them, as a number.
          def check_size(digits)
            number = (digits || "").hex
            return number if number <= Syntax::LENGTH_LIMIT

            raise ParseError, "a chunk's size is too large"
          end
        end
      end
    end
  end
end
