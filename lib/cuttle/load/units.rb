# frozen_string_literal: true

module Cuttle
  module Load
    # Reads numbers with units: "500ms", "10s", "16k". Report::Units writes them, and its methods are here too.
    module Units
      extend Report::Units

      SECONDS = {
        "ns" => 1e-9, "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0, "m" => 60.0, "min" => 60.0, "h" => 3600.0
      }.freeze
      OCTETS = {
        "" => 1, "b" => 1, "k" => 1000, "kb" => 1000, "kib" => 1024, "m" => 1_000_000, "mb" => 1_000_000,
        "mib" => 1 << 20, "g" => 1_000_000_000, "gb" => 1_000_000_000, "gib" => 1 << 30
      }.freeze

      module_function

      # Seconds from "10s", "1.5m", "250ms", or from a bare number. Raises UsageError with the name +what+.
      def seconds(text, what)
        number, unit = split(text) || raise(UsageError, "#{what}: a time such as 10s, 500ms or 2m, not #{text.inspect}")
        factor = SECONDS[unit.empty? ? "s" : unit] or
          raise UsageError, "#{what}: no unit #{unit.inspect} (ns us ms s m h)"
        number * factor
      end

      # Octets from "16k", "1MiB" or a bare number; a "/s" at the end is allowed.
      def octets(text, what)
        number, unit = split(text.to_s.delete_suffix("/s")) ||
                       raise(UsageError, "#{what}: octets such as 16k or 1MiB, not #{text.inspect}")
        factor = OCTETS[unit.downcase] or raise UsageError, "#{what}: no unit #{unit.inspect} (k KiB M MiB G GiB)"
        (number * factor).round
      end

      # A positive number from "1000" or "2.5k".
      def rate(text, what)
        number, unit = split(text.to_s.delete_suffix("/s"))
        factor = { "" => 1.0, "k" => 1e3 }[unit.to_s.downcase]
        raise UsageError, "#{what}: a number of requests per second, not #{text.inspect}" unless number && factor

        number * factor
      end

      def split(text)
        match = /\A\s*(\d+(?:\.\d+)?|\.\d+)\s*([[:alpha:]]*)\s*\z/.match(text.to_s) or return
        [match[1].to_f, match[2]]
      end
    end
  end
end
