# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Rows on a scale of equal ratios, with a line at 1. A subclass says values, which are drawn, and the ends of
        # their intervals.
        class Ratios < Rows
          TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.25, 1.5, 2,
                   3, 5, 10, 20, 50, 100, 1000, 10_000].freeze

          private

          # Of equal ratios, with 1 as a line of its own.
          def axis(bottom)
            one = Charts.at(scale.call(1))
            [super, tag(:path, class: "reference", d: "M#{one} #{TOP}V#{bottom}")]
          end

          def ticks
            between = TICKS.select { |tick| tick.between?(scale.low, scale.high) }
            around_one(between).map { |tick| [tick, Numbers.short(tick)] }
          end

          # Those that have room, beginning at 1, which is always there.
          def around_one(ticks)
            [1, *ticks.sort_by { |tick| -Math.log(tick).abs }].uniq.each_with_object([]) do |tick, kept|
              kept << tick if kept.all? { |other| (scale.call(other) - scale.call(tick)).abs >= Axis::APART }
            end.sort
          end

          def scale
            @scale ||= Scales::Log.around(Scales.with_intervals([1.0, *values.map(&:to_f)], ends), ACROSS, air: 1.02)
          end
        end
      end
    end
  end
end
