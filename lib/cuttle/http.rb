# frozen_string_literal: true

module Cuttle
  # Bytes in, bytes out. Names no Rack and no engine.
  module Http
    autoload :FieldValue, "cuttle/http/field_value"
    autoload :Head, "cuttle/http/head"
    autoload :ParseError, "cuttle/http/head"
    autoload :Parsers, "cuttle/http/parsers"
  end
end
