# frozen_string_literal: true

require "uri"

module Cuttle
  module Lab
    class WorkApp
      # The checked and complete parameters of one request. Frozen. Times are milliseconds.
      class Parameters
        # An invalid parameter: one line with its name and the allowed values.
        class Invalid < StandardError; end

        # Name => [default, maximum]. The first three are those of the original fake_work, with its defaults.
        NUMBERS = { "cpu_ms" => [50, 60_000], "iowait_ms" => [250, 600_000], "lock_ms" => [0, 600_000],
                    "cv" => [0, 10] }.freeze

        # Name => [default, the range of whole numbers].
        COUNTS = { "response_chars" => [20_000, 0..100_000_000], "alloc_kb" => [0, 0..1_000_000],
                   "slices" => [1, 1..10_000], "pool" => [5, 1..1000] }.freeze

        # Name => [default, the words].
        WORDS = { "spin" => ["thread", %w[thread wall]], "query" => [nil, %w[sleep table]] }.freeze

        NAMES = [*NUMBERS.keys, *COUNTS.keys, *WORDS.keys, "upstream"].freeze
        DEFAULTS = NUMBERS.merge(COUNTS, WORDS).transform_values(&:first).freeze

        # Hosts that a request may name as its upstream. Otherwise any client could make the app send requests anywhere.
        # Defaults may name others.
        LOOPBACK = %w[127.0.0.1 localhost [::1]].freeze

        NAMES.each { |name| define_method(name) { @values[name] } }

        # The body of the response.
        attr_reader :body

        # +given+: values by name. Raises Invalid.
        def initialize(given = {}, base: DEFAULTS, hosts: nil)
          @hosts = hosts
          @values = base.merge(given.to_h { |name, value| [name.to_s, check(name.to_s, value)] }).freeze
          @body = ("a" * response_chars).freeze
          freeze
        end

        # These parameters, with those of a query string in their place. Raises Invalid.
        def with(query)
          self.class.new(URI.decode_www_form(query), base: @values, hosts: [*LOOPBACK, upstream&.host].compact)
        rescue ArgumentError
          raise Invalid, "query string: not in the form name=value&name=value"
        end

        private

        def check(name, value)
          if NUMBERS.key?(name) then number(name, value)
          elsif COUNTS.key?(name) then count(name, value)
          elsif WORDS.key?(name) then word(name, value)
          elsif name == "upstream" then url(value)
          else raise Invalid, "no parameter #{name.inspect} (#{NAMES.join(", ")})"
          end
        end

        def number(name, value)
          most = NUMBERS.fetch(name).last
          number = value.to_s.match?(/\A\d+(\.\d+)?\z/) ? value.to_f : -1
          return number if number.between?(0, most)

          raise Invalid, "#{name}: a number from 0 to #{most}, not #{value.inspect}"
        end

        def count(name, value)
          range = COUNTS.fetch(name).last
          return value.to_i if value.to_s.match?(/\A\d+\z/) && range.cover?(value.to_i)

          raise Invalid, "#{name}: a whole number from #{range.first} to #{range.last}, not #{value.inspect}"
        end

        def word(name, value)
          words = WORDS.fetch(name).last
          return value.to_s if words.include?(value.to_s)

          raise Invalid, "#{name}: #{words.join(" or ")}, not #{value.inspect}"
        end

        def url(value)
          uri = URI.parse(value.to_s)
          raise URI::InvalidURIError unless uri.scheme == "http" && uri.host
          return uri.freeze if @hosts.nil? || @hosts.include?(uri.host)

          raise Invalid, "upstream: a request may only name one on this machine, not #{uri.host}"
        rescue URI::Error
          raise Invalid, "upstream: a URL that begins with http://, not #{value.inspect}"
        end
      end
    end
  end
end
