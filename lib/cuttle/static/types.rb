# frozen_string_literal: true

module Cuttle
  class Static
    # The Content-Type of a file, by the extension of its name.
    class Types
      UNKNOWN = "application/octet-stream"

      TEXT = %r{\A(?:text/|application/(?:javascript|ecmascript)\z)}

      # Types for which a .br or .gz file is useful. Pictures, films and archives are compressed already.
      COMPRESSIBLE = %r{
        \Atext/ | [+/](?:json|xml)\b | \Aapplication/(?:javascript|ecmascript|wasm|rtf|vnd\.ms-fontobject)\b |
        \Afont/(?:ttf|otf|collection)\b | \Aimage/(?:bmp|x-icon|vnd\.microsoft\.icon)\b | \Aapplication/x-font-[ot]tf\b
      }x

      # +table+: call(".html") → "text/html" or nil. +charset+ is the charset of the site's text; nil: not stated.
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

      # Whether the response for a file of that type depends on the codings that the client accepts. The type decides,
      # not the existing files, so a cached response stays valid when compressed files are added later.
      def varies?(type)
        @precompressed && COMPRESSIBLE.match?(type)
      end
    end
  end
end
