# frozen_string_literal: true

require "cuttle/http/head"
require "cuttle/http/parsers/syntax"

module Cuttle
  module Http
    module Parsers
      # A few regular expressions, as small servers have them. The native parser accepts everything that this parser
      # accepts, with the same Head. This parser rejects much that is valid: targets that are no paths, authorities
      # other than name and port, heads over 16 KB, and, with a 501, everything in RFC 9112 beyond Content-Length. It
      # immediately rejects input that can no longer become a head, but it looks at every octet again with each piece.
      # It is for study, not for production.
      class Recognizer
        LIMIT = 16_384 # octets of a head

        METHODS = %w[GET HEAD POST PUT PATCH DELETE OPTIONS].freeze
        HEAD = %r{\A(#{METHODS.join("|")})\x20
                  ((/[#{Syntax::TARGET}&&[^?]]*)(?:\?([#{Syntax::TARGET}]*))?)\x20
                  HTTP/1\.([01])\r\n
                  ((?:[#{Syntax::TOKEN}]+:[#{Syntax::VALUE}]*\r\n)*)\r\n}xn
        # The beginnings of a head: as much of a word as has arrived, followed by +behind+ only if the word is complete.
        beginning = lambda do |word, behind|
          word.chars.reverse.inject(behind) { |rest, octet| "(?:#{Regexp.escape(octet)}#{rest})?" }
        end
        name = "[#{Syntax::TOKEN}]+"
        value = "[#{Syntax::VALUE}]*"
        fields = "(?:#{name}:#{value}\\r\\n)*(?:#{name}(?::#{value}\\r?)?|\\r)?"
        version = beginning.call(" HTTP/1.", "(?:[01]#{beginning.call("\r\n", fields)})?")
        methods = METHODS.map { |method| beginning.call("#{method} /", "[#{Syntax::TARGET}]*#{version}") }
        BEGINNING = /\A(?:#{methods.join("|")})\z/n
        FIELD = /([^:\r\n]+):[ \t]*([^\r\n]*?)[ \t]*\r\n/n
        HOST = /\A([0-9A-Za-z._-]+)(?::(\d{1,4}|[1-5]\d{4}))?\z/n
        LENGTH = /\A\d{1,18}\z/n
        private_constant :METHODS, :HEAD, :BEGINNING, :FIELD, :HOST, :LENGTH

        def self.study_only?
          true
        end

        # See Parsers.
        def head(bytes)
          match = HEAD.match(bytes)
          return build(match) if match && match.end(0) <= LIMIT
          raise ParseError, "no request that is recognized" unless BEGINNING.match?(bytes.byteslice(0, LIMIT))
          raise ParseError.new("the head is too large", status: 431) if bytes.bytesize > LIMIT
        end

        # See Parsers. This parser does not support chunks.
        def chunks(_bytes)
          refuse("chunks are not recognized")
        end

        private

        def build(match)
          method, target, path, query, minor, lines = match.captures
          fields = lines.scan(FIELD)
          raise ParseError.new("too many fields", status: 431) if fields.size > Syntax::FIELDS_LIMIT

          refuse("too much to ask") if one(fields, "transfer-encoding") || one(fields, "expect")

          host, port = authority(one(fields, "host"), minor)
          Head.new(http_method: method, target: target, path: path, query: query, host: host, port: port || "",
                   minor: minor.to_i, fields: fields, content_length: length(one(fields, "content-length")),
                   chunked: false, keep_alive: keep_alive?(one(fields, "connection"), minor), expect_continue: false,
                   bytesize: match.end(0))
        end

        # The value of the only field with that name; nil if there is none.
        def one(fields, name)
          values = fields.filter_map { |field, value| value if field.casecmp?(name) }
          raise ParseError, "more than one #{name}" if values.size > 1

          values.first
        end

        def authority(host, minor)
          return if host.nil? && minor == "0"

          HOST.match(host || "")&.captures || raise(ParseError, "no Host that is recognized")
        end

        def length(text)
          return 0 unless text
          raise ParseError, "Content-Length is no number" unless LENGTH.match?(text)

          text.to_i
        end

        # A single option is understood. A list of options is rejected.
        def keep_alive?(connection, minor)
          case connection&.downcase
          when nil, "upgrade" then minor == "1"
          when "close" then false
          when "keep-alive" then true
          else refuse("connection options that are not recognized")
          end
        end

        def refuse(what)
          raise ParseError.new(what, status: 501)
        end
      end
    end
  end
end
