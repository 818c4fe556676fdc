# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      # Character classes (RFC 9110, 5.6; RFC 3986, 2), as the text between the brackets of a regular expression, and
      # the limits of the input. The Ruby parsers' half of ext/cuttle/syntax.h and parser.h.
      module Syntax
        TOKEN = "!\#$%&'*+\\-.^_`|~0-9A-Za-z"
        VALUE = "\\t\\x20-\\x7e\\x80-\\xff"
        TARGET = "\\x21\\x22\\x24-\\x7e" # visible ASCII except "#"
        HOST = "\\-._~%!$&'()*+;=0-9A-Za-z" # reg-name without the comma of sub-delims: two joined Hosts contain one
        QUOTED = "\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff"

        REQUEST_LINE_LIMIT = 16_384
        FIELD_LINE_LIMIT = 16_384
        FIELDS_LIMIT = 128
        HEAD_LIMIT = 65_536
        METHOD_LIMIT = 64
        CHUNK_LINE_LIMIT = 4096
        EXTENSIONS_LIMIT = 16_384
        TRAILER_LIMIT = 16_384
        LENGTH_LIMIT = (2**63) - 1
      end
    end
  end
end
