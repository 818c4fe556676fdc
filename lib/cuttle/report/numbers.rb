# frozen_string_literal: true

module Cuttle
  module Report
    # Formats figures for readers. A missing figure is a dash.
    module Numbers
      NONE = "–"

      module_function

      # Requests per second, with their significant digits.
      def rate(value)
        value ? Units.count(value, decimals(value)) : NONE
      end

      def milliseconds(value)
        value ? Units.time(value * 1e6) : NONE
      end

      def microseconds(value)
        value ? Units.time(value * 1e3) : NONE
      end

      def seconds(value)
        value ? Units.time(value * 1e9) : NONE
      end

      def size(octets)
        octets ? Units.size(octets.round) : NONE
      end

      def count(value)
        value ? Units.count(value, value == value.round ? 0 : decimals(value)) : NONE
      end

      # Ratios beyond a thousand come only from too few runs, and their digits mean nothing.
      def ratio(value)
        return NONE unless value
        return "over 1,000" if value > 1000
        return "under 0.001" if value.positive? && value < 0.001

        format(value < 0.0995 ? "%.3f" : "%.2f", value)
      end

      # A ratio as a change: "+3.2%", "-0.4%".
      def change(ratio)
        format((ratio - 1).abs < 0.1 ? "%+.1f%%" : "%+.0f%%", (ratio - 1) * 100)
      end

      # "120 to 126" for an estimate, or nil if it has no interval. +as+, a method of this module, or the block formats
      # each end. A unit that both ends share appears once.
      def interval(estimate, as = nil)
        return unless interval?(estimate)

        low, high = [estimate.low, estimate.high].map { |value| as ? public_send(as, value) : yield(value) }
        unit = high[/ \D+\z/]
        "#{unit && low.end_with?(unit) ? low.delete_suffix(unit) : low} to #{high}"
      end

      def interval?(estimate)
        estimate && estimate.low && estimate.high
      end

      # A detectable difference from 1: "4.0%". With few runs it can have any size.
      def effect(share)
        share < 1 ? format("%.1f%%", share * 100) : "no less than double"
      end

      # Short, for axes: "50 ms", "1.5 s".
      def tick_time(milliseconds)
        return "0" if milliseconds.zero?
        return "#{short(milliseconds * 1000)} us" if milliseconds < 0.9995

        milliseconds < 999.5 ? "#{short(milliseconds)} ms" : "#{short(milliseconds / 1000)} s"
      end

      # "950", "1.5k", "20k"
      def tick_count(value)
        value < 1000 ? short(value) : "#{short(value / 1000.0)}k"
      end

      def tick_size(octets)
        octets.zero? ? "0" : "#{short(octets / 1e6)} MB"
      end

      def short(value)
        value.abs < 999.5 ? format("%.3g", value) : Units.count(value)
      end

      def decimals(value)
        if value.abs >= 1000 then 0
        else value.abs >= 10 ? 1 : 2
        end
      end
    end
  end
end
