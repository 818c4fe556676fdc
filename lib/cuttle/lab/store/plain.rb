# frozen_string_literal: true

module Cuttle
  module Lab
    class Store
      # Values as JSON can hold them, so that no measurement is lost to one of its parts: numbers that are none become
      # null, and octets that are no UTF-8 (the last words of a server) are marked.
      module Plain
        module_function

        def of(value)
          case value
          when Hash then value.to_h { |key, each| [text(key.to_s), of(each)] }
          when Array then value.map { |each| of(each) }
          when Float then value.finite? ? value : nil
          when String, Symbol then text(value.to_s)
          when Integer, true, false, nil then value
          else value.respond_to?(:to_h) ? of(value.to_h) : text(value.to_s)
          end
        end

        def text(string)
          return string.dup.force_encoding(Encoding::UTF_8).scrub if string.encoding == Encoding::BINARY

          string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
        end
      end
    end
  end
end
