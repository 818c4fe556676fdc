# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # From values to coordinates: call(value), and ticks, the values worth a label. A scale of one value puts it
        # in the middle.
        module Scales
          WIDEST = 2.0 # times the greatest value, that an interval may stretch a scale to

          # +values+, and those ends of their intervals that leave the values room: of few runs an interval may reach
          # anywhere, and is cut off at the axis.
          def self.with_intervals(values, ends)
            low, high = values.minmax
            values + ends.map { |value| value.clamp(low / WIDEST, high * WIDEST) }
          end

          # What scales have in common: +position+ is where a value is between low (0) and high (1).
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

            # Where it is, or the end that it lies beyond.
            def within(value)
              call(value.clamp(low, high))
            end

            private

            def position(value)
              low == high ? 0.5 : (stretch(value) - stretch(low)) / (stretch(high) - stretch(low))
            end
          end

          # Equal steps.
          class Linear < Scale
            STEPS = [1, 2, 2.5, 5, 10].freeze

            # Whose ends are round and hold all +values+; with +zero+, it begins there.
            def self.around(values, range, zero: false)
              low, high = values.minmax
              low = 0 if zero
              high = low + (low.zero? ? 1 : low.abs * 0.1) if high <= low
              step = step(high - low)
              new((low / step).floor * step, (high / step).ceil * step, range, step: step)
            end

            # The step that gives about four of them.
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

          # Equal ratios. Values are positive.
          class Log < Scale
            MANTISSAS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]].freeze

            # All of +values+, and a little air.
            def self.around(values, range, air: 1.15)
              low, high = values.minmax
              new(low / air, high * air, range)
            end

            # The roundest that are at least three; equal steps where the range is too narrow for ratios.
            def ticks
              round = MANTISSAS.lazy.map { |mantissas| multiples(mantissas) }.find { |ticks| ticks.length >= 3 }
              round ? thin(round) : Linear.new(low, high, nil).ticks
            end

            private

            # Of powers of ten.
            def multiples(mantissas)
              decades = (Math.log10(low).floor..Math.log10(high).ceil)
              decades.flat_map { |power| mantissas.map { |mantissa| mantissa * (10.0**power) } }
                     .select { |tick| tick.between?(low, high) }
            end

            # At most six.
            def thin(ticks)
              ticks.each_slice((ticks.length / 6.0).ceil).map(&:first)
            end

            def stretch(value)
              Math.log10([value, low].max) # an interval that reaches to zero ends at the axis
            end
          end

          # Percentiles by how many nines they have: what happens to one in ten, hundred, thousand has equal room.
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
end
