# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Rows of ratios on a logarithmic scale, with a line at 1.
      class Ratios < Rows
        TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.25, 1.5, 2,
                 3, 5, 10, 20, 50, 100, 1000, 10_000].freeze

        private

        def axis(bottom)
          one = Charts.at(scale.call(1))
          [super, tag(:path, class: "reference", d: "M#{one} #{TOP}V#{bottom}")]
        end

        # 1 always has a label. Other ticks have labels where they fit, those nearest to 1 first.
        def ticks
          between = TICKS.select { |tick| tick.between?(scale.low, scale.high) }
          [1, *between.sort_by { |tick| -Math.log(tick).abs }].uniq.each_with_object([]) do |tick, kept|
            kept << tick if kept.all? { |other| (scale.call(other) - scale.call(tick)).abs >= Axis::APART }
          end.sort
        end

        def label(tick)
          Numbers.short(tick)
        end

        # The scale includes the ranges.
        def scale
          @scale ||= begin
            bounds = @items.filter_map(&:range).flat_map { |range| [range.begin, range.end] }
            held = [1.0, *values, *bounds.compact.select(&:positive?).map(&:to_f)]
            Scales::Log.around(Scales.with_intervals(held, ends), ACROSS, air: 1.02)
          end
        end
      end
    end
  end
end
