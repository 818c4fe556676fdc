# frozen_string_literal: true

module Cuttle
  module Report
    # Numbers with units: "1.25 ms", "12,345", "1.50 MB", "1 min 30 s".
    module Units
      extend self

      # Nanoseconds, with three significant digits: "12.3 us", "1.50 s".
      def time(nanoseconds)
        value, unit = if nanoseconds < 1e3 then [nanoseconds, "ns"]
                      elsif nanoseconds < 1e6 then [nanoseconds / 1e3, "us"]
                      elsif nanoseconds < 1e9 then [nanoseconds / 1e6, "ms"]
                      else [nanoseconds / 1e9, "s"]
                      end
        "#{digits(value)} #{unit}"
      end

      # "12,345" or "12,345.6"
      def count(number, decimals = 0)
        whole, part = format("%.#{decimals}f", number).split(".")
        [whole.gsub(/(?<=\d)(?=(\d{3})+\z)/, ","), part].compact.join(".")
      end

      # "512 B", "1.50 MB"
      def size(octets)
        return "#{octets} B" if octets < 1000

        power = [(Math.log10(octets) / 3).floor, 4].min
        "#{digits(octets / 1000.0**power)} #{%w[B kB MB GB TB][power]}"
      end

      # "10 s", "1 min 30 s", "0.5 s"
      def duration(seconds)
        return "#{format("%g", seconds.round(3))} s" if seconds < 120

        minutes, rest = seconds.round(1).divmod(60)
        rest.zero? ? "#{minutes.to_i} min" : "#{minutes.to_i} min #{format("%g", rest.round(1))} s"
      end

      # "1 run", "1,200 runs"
      def plural(count, word)
        "#{count(count)} #{word}#{"s" unless count == 1}"
      end

      private

      def digits(value)
        return value.round.to_s if value.is_a?(Integer) || value >= 99.95

        value >= 9.995 ? format("%.1f", value) : format("%.2f", value)
      end
    end
  end
end
