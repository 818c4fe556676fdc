# frozen_string_literal: true

module Cuttle
  module Http
    # The HTTP parsers. One object parses one connection, request after request; the native core
    # begins each request with a new one. The contract of every parser:
    #
    #   #head(bytes)    bytes (binary) begin with a request's first octet and only grow between calls
    #                   => Head, or nil for "need more"; raises ParseError at the first wrong octet
    #   #chunks(bytes)  bytes begin where the previous call stopped consuming
    #                   => [octets consumed, decoded body, whether body and trailer are complete]; raises ParseError
    #   .study_only?    whether it is too lenient or too incomplete for production
    module Parsers
      extend Catalogue

      list "parser", "cuttle/http/parsers", {
        "native" => ["Native", "C, strict, complete: the default"],
        "pure" => ["Pure", "Ruby, with the same verdicts: to read, to compare, to debug"],
        "recognizer" => ["Recognizer",
                         "a few regular expressions, as small servers have them: for study, not for production"]
      }
    end
  end
end
