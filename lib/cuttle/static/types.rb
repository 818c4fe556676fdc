# frozen_string_literal: true

module Cuttle
  class Static
    # The Content-Type of a file by the extension of its name.
    class Types
      UNKNOWN = "application/octet-stream"

      TEXT = %r{\A(?:text/|application/(?:javascript|ecmascript)\z)}

      # What is worth a .br or .gz beside it; pictures, films and archives are compressed in themselves.
      COMPRESSIBLE = %r{
        \Atext/ | [+/](?:json|xml)\b | \Aapplication/(?:javascript|ecmascript|wasm|rtf|vnd\.ms-fontobject)\b |
        \Afont/(?:ttf|otf|collection)\b | \Aimage/(?:bmp|x-icon|vnd\.microsoft\.icon)\b | \Aapplication/x-font-[ot]tf\b
      }x

      # +table+: call(".html") → "text/html" or nil. +charset+ is what the site's text is in; nil: not said.
      # +precompressed+: files may have compressed forms.
      def initialize(table, charset, precompressed)
        @table = table
        @charset = charset
        @precompressed = precompressed
      end

      def of(name)
        type = @table.call(File.extname(name).downcase) || UNKNOWN
        @charset && TEXT.match?(type) ? "#{type}; charset=#{@charset}" : type
      end

      # Whether the response to a file of that type depends on what codings the client takes. By the type, not by what
      # is there, so that it stays true of a response in a cache when compressed forms come later.
      def varies?(type)
        @precompressed && COMPRESSIBLE.match?(type)
      end
    end
  end
end
