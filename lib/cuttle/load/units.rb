# frozen_string_literal: true

module Cuttle
  module Load
    # Numbers with units, read and written: "500ms", "10s", "1,234.5/s", "1.25 ms".
    module Units
      SECONDS = {
        "ns" => 1e-9, "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0, "m" => 60.0, "min" => 60.0, "h" => 3600.0
      }.freeze
      OCTETS = {
        "" => 1, "b" => 1, "k" => 1000, "kb" => 1000, "kib" => 1024, "m" => 1_000_000, "mb" => 1_000_000,
        "mib" => 1 << 20
      }.freeze

      module_function

      # Seconds, of "10s", "1.5m", "250ms", or of a bare number. Raises UsageError, naming +what+.
      def seconds(text, what)
        number, unit = split(text) || raise(UsageError, "#{what}: a time such as 10s, 500ms or 2m, not #{text.inspect}")
        factor = SECONDS[unit.empty? ? "s" : unit] or
          raise UsageError, "#{what}: no unit #{unit.inspect} (ns us ms s m h)"
        number * factor
      end

      # Octets, of "16k", "1MiB" or a bare number; a "/s" at the end is allowed.
      def octets(text, what)
        number, unit = split(text.to_s.delete_suffix("/s")) ||
                       raise(UsageError, "#{what}: octets such as 16k or 1MiB, not #{text.inspect}")
        factor = OCTETS[unit.downcase] or raise UsageError, "#{what}: no unit #{unit.inspect} (k KiB M MiB)"
        (number * factor).round
      end

      # A positive number, of "1000" or "2.5k".
      def rate(text, what)
        number, unit = split(text.to_s.delete_suffix("/s"))
        factor = { "" => 1.0, "k" => 1e3 }[unit.to_s.downcase]
        raise UsageError, "#{what}: a number of requests per second, not #{text.inspect}" unless number && factor

        number * factor
      end

      def split(text)
        match = /\A\s*(\d+(?:\.\d+)?|\.\d+)\s*([[:alpha:]µ]*)\s*\z/.match(text.to_s) or return
        [match[1].to_f, match[2]]
      end

      # Nanoseconds with three digits that matter: "12.3 us", "1.50 s".
      def time(nanoseconds)
        value, unit = if nanoseconds < 1e3 then [nanoseconds, "ns"]
                      elsif nanoseconds < 1e6 then [nanoseconds / 1e3, "us"]
                      elsif nanoseconds < 1e9 then [nanoseconds / 1e6, "ms"]
                      else [nanoseconds / 1e9, "s"]
                      end
        "#{digits(value)} #{unit}"
      end

      def digits(value)
        return value.round.to_s if value.is_a?(Integer) || value >= 99.95

        value >= 9.995 ? format("%.1f", value) : format("%.2f", value)
      end

      # "12,345" or "12,345.6"
      def count(number, decimals = 0)
        whole, part = format("%.#{decimals}f", number).split(".")
        [whole.gsub(/(?<=\d)(?=(\d{3})+\z)/, ","), part].compact.join(".")
      end

      def size(octets)
        return "#{octets} B" if octets < 1000

        power = [(Math.log10(octets) / 3).floor, 4].min
        "#{digits(octets / 1000.0**power)} #{%w[B kB MB GB TB][power]}"
      end

      # "10 s", "1 min 30 s", "0.5 s"
      def duration(seconds)
        return "#{format("%g", seconds.round(3))} s" if seconds < 120

        minutes, rest = seconds.divmod(60)
        rest.zero? ? "#{minutes.to_i} min" : "#{minutes.to_i} min #{format("%g", rest.round(1))} s"
      end
    end
  end
end
