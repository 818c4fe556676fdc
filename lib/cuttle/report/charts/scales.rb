# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Scales convert values into coordinates (call) and choose the values that get a label (ticks). A scale with a
      # single value puts it in the middle.
      module Scales
        WIDEST = 2.0 # how far an interval may extend a scale beyond the values

        # A scale that holds +values+ and the ends of their intervals. A linear scale starts at zero.
        def self.around(values, ends, range, log:)
          all = with_intervals(values, ends)
          log ? Log.around(all, range) : Linear.around(all, range, zero: true)
        end

        # +values+, and the ends of their intervals unless these would leave too little room for the values. The
        # interval of few runs can be very wide; the axis then cuts it off.
        def self.with_intervals(values, ends)
          low, high = values.minmax
          values + ends.map { |value| value.clamp(low / WIDEST, high * WIDEST) }
        end

        # The common part of scales. A subclass has stretch, which maps values so that equal steps on the axis are equal
        # differences.
        class Scale
          attr_reader :low, :high

          def initialize(low, high, range)
            @low = low.to_f
            @high = high.to_f
            @from, @to = range
          end

          def call(value)
            @from + (position(value.to_f) * (@to - @from))
          end

          # Like call, but a value beyond an end is put at that end.
          def within(value)
            call(value.clamp(low, high))
          end

          private

          def position(value)
            low == high ? 0.5 : (stretch(value) - stretch(low)) / (stretch(high) - stretch(low))
          end
        end

        # A linear scale: equal steps are equal differences.
        class Linear < Scale
          STEPS = [1, 2, 2.5, 5, 10].freeze

          # A scale with round ends that holds all +values+. zero: whether it starts at 0.
          def self.around(values, range, zero: false)
            low, high = values.minmax
            low = 0 if zero
            high = low + (low.zero? ? 1 : low.abs * 0.1) if high <= low
            step = step(high - low)
            new((low / step).floor * step, (high / step).ceil * step, range, step: step)
          end

          # The round step that divides +length+ into about four.
          def self.step(length)
            power = 10.0**Math.log10(length / 4.0).floor
            STEPS.map { |factor| factor * power }.find { |step| length / step <= 4.5 } || (10 * power)
          end

          def initialize(low, high, range, step: self.class.step(high - low))
            super(low, high, range)
            @step = step
          end

          def ticks
            first = ((low / @step) - 1e-9).ceil
            last = ((high / @step) + 1e-9).floor
            (first..last).map { |number| (number * @step).round(12) }
          end

          private

          def stretch(value)
            value
          end
        end

        # A logarithmic scale: equal steps are equal ratios. Values are positive.
        class Log < Scale
          MANTISSAS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]].freeze

          # A scale that holds all +values+ with a margin.
          def self.around(values, range, air: 1.15)
            low, high = values.minmax
            new(low / air, high * air, range)
          end

          # At least three ticks with numbers as round as possible; equal steps if the range is too narrow.
          def ticks
            round = MANTISSAS.lazy.map { |mantissas| multiples(mantissas) }.find { |ticks| ticks.length >= 3 }
            round ? thin(round) : Linear.new(low, high, nil).ticks
          end

          private

          # Powers of ten, times each mantissa.
          def multiples(mantissas)
            decades = (Math.log10(low).floor..Math.log10(high).ceil)
            decades.flat_map { |power| mantissas.map { |mantissa| mantissa * (10.0**power) } }
                   .select { |tick| tick.between?(low, high) }
          end

          # At most six ticks.
          def thin(ticks)
            ticks.each_slice((ticks.length / 6.0).ceil).map(&:first)
          end

          def stretch(value)
            Math.log10([value, low].max) # an interval may begin at zero
          end
        end

        # A scale for percentiles, by their number of nines: p90, p99 and p99.9 have equal distances.
        class Nines < Scale
          TICKS = [0, 50, 90, 99, 99.9, 99.99, 99.999].freeze

          def ticks
            TICKS.select { |tick| tick.between?(low, high) }
          end

          private

          def stretch(percentile)
            -Math.log10(1 - (percentile / 100.0))
          end
        end
      end
    end
  end
end
