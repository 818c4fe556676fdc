# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What an operator may set (see Settings::TABLE): times in seconds, sizes in octets. nil: no limit.
      class Limits
        TIMES = %i[header_timeout body_timeout idle_timeout write_timeout drain_grace queue_timeout app_timeout].freeze
        NUMBERS = %i[min_rate max_body max_requests max_connections write_ahead max_spool max_queue].freeze
        FLAGS = %i[keep_alive underscore_headers early_hints server_timing].freeze
        OTHERS = %i[half_close].freeze
        NAMES = (TIMES + NUMBERS + FLAGS + OTHERS).freeze
        LONGEST = 1e9 # seconds

        attr_reader(*NAMES)

        # Raises ArgumentError.
        def initialize(keep_alive: true, half_close: "answer", **given)
          given = { keep_alive: keep_alive, **given }
          FLAGS.each { |name| instance_variable_set(:"@#{name}", given[name] ? true : false) }
          @half_close = half_close
          (TIMES + NUMBERS).each { |name| instance_variable_set(:"@#{name}", amount(name, given[name])) }
          freeze
        end

        # Whether a client that has shut down its sending side counts as gone.
        def drop_half_closed?
          @half_close == "drop"
        end

        # Whether requests may be refused because too many wait, or for too long.
        def sheds?
          (@max_queue || @queue_timeout) && true
        end

        # Seconds between two measurements of a transfer.
        def look
          [[1.0, *[@body_timeout, @write_timeout].compact.map { |time| time / 4.0 }].min, 0.01].max
        end

        private

        def amount(name, value)
          return if value.nil?
          raise ArgumentError, "#{name}: below 0" if value.negative?
          raise ArgumentError, "#{name}: not a number of seconds" if TIMES.include?(name) && value > LONGEST

          value if value.positive?
        end
      end
    end
  end
end
