# frozen_string_literal: true

require "strscan"

module Cuttle
  module Http
    module Parsers
      class Pure
        # The lines of a head, taken apart while their octets come. Each octet is looked at once (those of a version
        # again with each piece), and one that can't be where it is (RFC 9112, 3 and 5) is refused at once. So a verdict
        # never depends on how the octets were cut.
        #
        #   method --SP--> target --SP--> version --CR--> line_feed --LF--> done
        #   name --":"--> value --CR--> line_feed --LF--> done
        class Lines
          # What a part of a line holds, at least how many of them, the octet that ends it, and the part behind that.
          Part = Struct.new(:octets, :least, :ending, :following)

          VERSION = %r{(?:H(?:T(?:T(?:P(?:/(?:1(?:\.\d?)?)?)?)?)?)?)?}n.freeze # as much of it as there is
          PARTS = {
            method: Part.new(/[#{Syntax::TOKEN}]*/n, 1, " ", :target),
            target: Part.new(/[#{Syntax::TARGET}]*/n, 1, " ", :version),
            version: Part.new(VERSION, 8, "\r", :line_feed),
            name: Part.new(/[#{Syntax::TOKEN}]*/n, 1, ":", :value),
            value: Part.new(/[#{Syntax::VALUE}]*/n, 0, "\r", :line_feed),
            line_feed: Part.new(//n, 0, "\n", :done)
          }.freeze
          TOKEN_OCTET = /[#{Syntax::TOKEN}]/n.freeze
          private_constant :Part, :VERSION, :PARTS, :TOKEN_OCTET

          def initialize
            @scanner = StringScanner.new("")
            @line = @at = @lines = 0 # where the line began, the first octet not looked at; lines taken
            @blank = false
            begin_line
          end

          # Octets that the lines handed out took.
          def position
            @line
          end

          # The parts of the next line: method, target and version, or name and value, or none for the line that ends
          # the head; nil while it is incomplete.
          def next(bytes)
            @scanner.string = bytes
            bound = [bytes.bytesize, limit].min
            check_first(bytes) if @at == @line && @at < bound
            advance(bytes, bound) until @part == :done || @at == bound
            return take(bytes) if @part == :done

            raise_too_long if bound == limit
          end

          private

          # The offset that the line has to end before.
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

          # An empty line ends the head, and is forgiven once before the request line (RFC 9112, 2.2).
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

          # The part behind the octet at hand.
          def proceed(bytes, following)
            @parts << bytes.byteslice(@began, @at - @began) unless @part == :line_feed
            @at += 1
            @began = @at
            @part = following
          end

          def check_method
            raise ParseError.new("the method is too long", status: 501) if @at - @began > Syntax::METHOD_LIMIT
          end

          # RFC 9112, 2.3: a higher minor version is fine, a higher major one is another protocol, and none is below 1.
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
