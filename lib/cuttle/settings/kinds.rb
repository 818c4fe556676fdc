# frozen_string_literal: true

module Cuttle
  class Settings
    # What values there are: each method turns what was said (Strings from outside, Ruby values from a program) into a
    # setting's one form. A row of the table names the method, and its further arguments. Raises ArgumentError, which
    # says what to give instead; Row#coerce puts the flag or variable before it.
    module Kinds
      ON_OFF = { true => true, false => false, "on" => true, "off" => false, "true" => true, "false" => false }.freeze

      # Seconds that are still a number of nanoseconds in 63 bits, as the core counts them.
      MOST_SECONDS = ((1 << 63) - 1) / 1_000_000_000

      module_function

      # Engines and servers may come as Symbols, paths as Pathname.
      def text(value)
        value.to_s.dup.freeze
      end

      # One of the names that +names+ (a Proc) returns, of what +what+ calls them. Raises UsageError.
      def name(value, what, names)
        return text(value) if names.call.include?(value.to_s)

        raise UsageError, "unknown #{what} #{value.inspect}: #{names.call.join(", ")}"
      end

      def on_off(value)
        ON_OFF.fetch(value) { raise ArgumentError, "on or off" }
      end

      # An Integer in +range+; +form+ is what to give.
      def whole(value, range, form)
        number = Integer(value.to_s, 10, exception: false)
        raise ArgumentError, "give #{form}" unless number && range.cover?(number)

        number
      end

      # 0 is allowed, for waiting for nothing may have a meaning.
      def seconds(value)
        time = Float(value, exception: false)
        raise ArgumentError, "give seconds" unless time&.finite? && !time.negative?
        raise ArgumentError, "give at most #{MOST_SECONDS} seconds" if time > MOST_SECONDS

        time == time.to_i ? time.to_i : time
      end

      def timeout(value)
        seconds(value).tap { |time| raise ArgumentError, "give seconds above 0" unless time.positive? }
      end

      def workers(value)
        return Cluster::Cpus.count if value.to_s == "auto"

        whole(value, 0..1024, "a number of processes, or auto")
      end

      # "N", "MIN:MAX", an Integer or a Range => a Range. Puma's "0:N" keeps no thread at rest; ours keeps one.
      def threads(value)
        form = "a number of threads, MIN:MAX, or 0 for a thread per connection"
        min, max = value.is_a?(Range) ? [value.min, value.max] : value.to_s.split(":", 2)
        min = whole(min, 0..10_000, form)
        max = max.nil? ? min : whole(max, 0..10_000, form)
        raise ArgumentError, "the minimum is above the maximum" if min > max

        max.zero? ? 0..0 : [min, 1].max..max
      end

      # One URI or several => an Array of them.
      def binds(value)
        Array(value).map { |uri| Listeners.check(uri) }.tap do |uris|
          raise ArgumentError, "give at least one URI" if uris.empty?
        end
      end
    end
  end
end
