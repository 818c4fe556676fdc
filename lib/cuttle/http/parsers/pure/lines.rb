# frozen_string_literal: true

require "strscan"

module Cuttle
  module Http
    module Parsers
      class Pure
        # Splits the lines of a head into parts while their octets arrive. It looks at each octet once (at the octets of
        # a version again with each piece). It rejects an octet that is not allowed at its place (RFC 9112, 3 and 5) as
        # soon as it arrives. So a verdict never depends on how the input was cut.
        #
        #   method --SP--> target --SP--> version --CR--> line_feed --LF--> done
        #   name --":"--> value --CR--> line_feed --LF--> done
        class Lines
          # A part of a line: the octets it may have, their minimum number, the octet that ends it, and the next part.
          Part = Struct.new(:octets, :least, :ending, :following)

          VERSION = %r{(?:H(?:T(?:T(?:P(?:/(?:1(?:\.\d?)?)?)?)?)?)?)?}n # as much of it as has arrived
          PARTS = {
            method: Part.new(/[#{Syntax::TOKEN}]*/n, 1, " ", :target),
            target: Part.new(/[#{Syntax::TARGET}]*/n, 1, " ", :version),
            version: Part.new(VERSION, 8, "\r", :line_feed),
            name: Part.new(/[#{Syntax::TOKEN}]*/n, 1, ":", :value),
            value: Part.new(/[#{Syntax::VALUE}]*/n, 0, "\r", :line_feed),
            line_feed: Part.new(//n, 0, "\n", :done)
          }.freeze
          TOKEN_OCTET = /[#{Syntax::TOKEN}]/n
          private_constant :Part, :VERSION, :PARTS, :TOKEN_OCTET

          def initialize
            @scanner = StringScanner.new("")
            @line = @at = @lines = 0 # start of the line; first octet not yet seen; lines taken
            @blank = false
            begin_line
          end

          # The number of octets in the lines returned so far.
          def position
            @line
          end

          # The parts of the next line: method, target and version, or name and value, or none for the line that ends
          # the head. nil while the line is incomplete.
          def next(bytes)
            @scanner.string = bytes
            bound = [bytes.bytesize, limit].min
            check_first(bytes) if @at == @line && @at < bound
            advance(bytes, bound) until @part == :done || @at == bound
            return take(bytes) if @part == :done

            raise_too_long if bound == limit
          end

          private

          # The line must end before this offset.
          def limit
            line = started? ? Syntax::FIELD_LINE_LIMIT : Syntax::REQUEST_LINE_LIMIT
            [@line + line + 2, Syntax::HEAD_LIMIT].min
          end

          def started?
            @lines.positive?
          end

          def begin_line
            @part = started? ? :name : :method
            @began = @line # where the part began
            @parts = []
          end

          # An empty line ends the head. One empty line before the request line is allowed (RFC 9112, 2.2).
          def check_first(bytes)
            if bytes.getbyte(@at) == 13 && (started? || !@blank)
              @part = :line_feed
              @at += 1
            elsif @lines > Syntax::FIELDS_LIMIT && bytes.byteslice(@at, 1).match?(TOKEN_OCTET)
              raise ParseError.new("too many fields", status: 431)
            end
          end

          def advance(bytes, bound)
            part = PARTS[@part]
            @scanner.pos = @part == :version ? @began : @at
            @at = [@scanner.pos + @scanner.skip(part.octets), bound].min
            check_method if @part == :method
            finish(part, bytes) unless @at == bound
          end

          def finish(part, bytes)
            octet = bytes.byteslice(@at, 1)
            check_major(octet) if @part == :version
            raise ParseError, "the #{@part} is malformed" unless octet == part.ending && @at - @began >= part.least

            proceed(bytes, part.following)
          end

          # Goes to the part after the current octet.
          def proceed(bytes, following)
            @parts << bytes.byteslice(@began, @at - @began) unless @part == :line_feed
            @at += 1
            @began = @at
            @part = following
          end

          def check_method
            raise ParseError.new("the method is too long", status: 501) if @at - @began > Syntax::METHOD_LIMIT
          end

          # RFC 9112, 2.3: a higher minor version is fine. A higher major version is another protocol. No major version
          # is below 1.
          def check_major(octet)
            return unless @at - @began == "HTTP/".bytesize && octet.match?(/[2-9]/n)

            raise ParseError.new("a version that is not served", status: 505)
          end

          def take(bytes)
            parts = @parts
            @blank ||= parts.empty?
            @lines += 1 unless parts.empty? && !started?
            @line = @at
            begin_line
            parts.empty? && !started? ? self.next(bytes) : parts
          end

          def raise_too_long
            raise ParseError.new("the head is too large", status: started? ? 431 : 414)
          end
        end
      end
    end
  end
end
