# frozen_string_literal: true

module Cuttle
  module Load
    class Request
      # Checks of a request. Each raises UsageError.
      module Checks
        TOKEN = /\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+\z/
        VALUE = /\A[^\0\r\n]*\z/n
        PATH = %r{\A(?:/[!-~]*|\*)\z}
        NAME = /\A\w+\z/

        private

        def validate
          validate_method
          validate_path
          headers.each { |name, value| validate_field(name, value) }
          validate_numbers
          validate_name
          checks
          validate_takes
        end

        def validate_method
          unless method.is_a?(String) && TOKEN.match?(method)
            raise UsageError, "method: a token such as GET, not #{method.inspect}"
          end
          raise UsageError, "method: CONNECT makes a tunnel and can't be measured" if method == "CONNECT"
        end

        def validate_path
          return if path.is_a?(String) && PATH.match?(path)

          raise UsageError, "path: begins with / and has neither spaces nor octets that need escaping: #{path.inspect}"
        end

        def validate_field(name, value)
          raise UsageError, "header: a name such as Accept, not #{name.inspect}" unless TOKEN.match?(name)
          raise UsageError, "header #{name}: no CR, LF or NUL in a value" unless VALUE.match?(value.b)
        end

        # The body's octets, or nil.
        def octets_of(body)
          raise UsageError, "body: a text, not #{body.inspect}" unless body.nil? || body.is_a?(String)

          body&.b
        end

        def validate_numbers
          unless expect.nil? || (expect.is_a?(Integer) && expect.between?(200, 599))
            raise UsageError, "expected status: 200 to 599, not #{expect.inspect}"
          end
          raise UsageError, "weight: above 0, not #{weight.inspect}" unless weight.is_a?(Numeric) && weight.positive?
        end

        def validate_name
          return if @name.nil? || (@name.is_a?(String) && !@name.strip.empty?)

          raise UsageError, "name: a text, not #{@name.inspect}"
        end

        def validate_takes
          raise UsageError, "take: an object of names and regular expressions" unless take.is_a?(Hash)

          takes.each do |name, pattern|
            raise UsageError, "take: a name of letters, not #{name.inspect}" unless NAME.match?(name)
            next if pattern.groups == 1

            raise UsageError, "take: #{name}: an expression with one ( ), not #{pattern.groups}: #{pattern.source}"
          end
        end
      end
    end
  end
end
