# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The fields in which proxies say who their client is.
      module Forwarded
        NAME = /\A(?:forwarded|client-ip|x-real-ip|x-forwarded(?:-.*)?)\z/in
        ELEMENT = /\A(?:\[([^\]]*:[^\]]*)\](?::\d+)?|([^:\[]*)(?::\d+)?|([^\[]*:[^\[]*:[^\[]*))\z/n
        SCHEMES = { "http" => "http", "https" => "https", "ws" => "http", "wss" => "https" }.freeze

        class << self
          # Whether a field of this name says who a proxy's client is, also with "_" for "-".
          def name?(name)
            name.tr("_", "-").match?(NAME)
          end

          # The client that X-Forwarded-For names; nil if it names none. Its fields form one list (RFC 9110, 5.3), to
          # which each proxy has added the address that it got the request from. So the entries that trusted proxies
          # have added count, from right to left. A client may have invented everything before them.
          def client(fields, trust)
            found = nil
            elements(fields, "x-forwarded-for").reverse_each do |element|
              address = address(element) or break
              found = address
              break unless trust.includes?(address)
            end
            found
          end

          # The scheme of the last element of X-Forwarded-Proto that names one; nil without one.
          def scheme(fields)
            SCHEMES[elements(fields, "x-forwarded-proto").map(&:downcase).reverse.find { |word| SCHEMES.key?(word) }]
          end

          private

          def elements(fields, name)
            values = fields.filter_map { |field, value| value if field.casecmp?(name) }
            values.flat_map { |value| Http::FieldValue.elements(value) }
          end

          # Of an element, which may have a port, and be in brackets.
          def address(element)
            text = element.match(ELEMENT)&.captures&.compact&.first
            Address.parse(text) if text
          end
        end
      end
    end
  end
end
