# frozen_string_literal: true

module Cuttle
  module Http
    # The HTTP parsers. One object parses one connection, request after request; the contract, for every parser:
    #
    #   #head(bytes)    bytes (binary) begin with a request's first octet and only ever grow between calls
    #                   => Head, or nil for "need more"; raises ParseError
    #   #chunks(bytes)  bytes begin where the last call's consumption ended
    #                   => [octets consumed, body octets decoded, whether body and trailer are complete]; raises ParseError
    #   .study_only?    whether it is too lenient or incomplete to serve in production
    module Parsers
      TABLE = {
        "native" => ["Native", "C, strict, complete: the default"],
        "pure" => ["Pure", "Ruby, with the same verdicts: to read, to compare, to debug"],
        "recognizer" => ["Recognizer", "a few regular expressions, as small servers have them: for study, not for production"]
      }.freeze

      class << self
        # Names of the parsers there are.
        def names
          TABLE.keys
        end

        # When to use a parser, in one line. Raises UsageError for an unknown name.
        def describe(name)
          entry(name).last
        end

        # A parser's class. Raises UsageError for an unknown name.
        def fetch(name)
          const_get(entry(name).first)
        end

        private

        def entry(name)
          TABLE.fetch(name.to_s) { raise UsageError, "unknown parser #{name.inspect}: #{names.join(", ")}" }
        end
      end

      TABLE.each { |name, (constant, _)| autoload constant, "cuttle/http/parsers/#{name}" }
    end
  end
end
