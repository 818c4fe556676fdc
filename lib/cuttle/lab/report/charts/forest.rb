# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Ratios to the base's rate (of an open loop: to its p95), with their intervals, on a scale of equal ratios.
        # Filled: a difference; hollow: none that could be measured.
        class Forest < Rows
          TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.25, 1.5, 2,
                   3, 5, 10, 20, 50, 100].freeze

          private

          def heading
            "Ratios to the #{measure} of #{@view.base.name}, #{@load.name}"
          end

          def unit
            words = "times the #{measure} of "
            words + short(@view.base.name, beside: words)
          end

          def measure
            items.first.measure.name
          end

          # The controls last, by what they repeat.
          def items
            @items ||= @view.comparisons(@load).reject { |each| each.configuration.control_of } + @view.controls(@load)
          end

          def name_of(comparison)
            return comparison.configuration.name unless comparison.configuration.control_of

            "control: #{comparison.base.name} by itself"
          end

          def figure_of(comparison)
            interval = Numbers.interval(comparison.ratio, :ratio)
            [Numbers.ratio(comparison.ratio.value), interval && "(#{interval})"].compact.join(" ")
          end

          def svg_of(comparison, y)
            ratio = comparison.ratio
            style = comparison.different? ? 1 : 0
            [(whisker(ratio.low, ratio.high, y, "s#{style + 1}") if Numbers.interval?(ratio)),
             Marker.at(scale.call(ratio.value), y, style, told(comparison), hollow: style.zero?, radius: 4.2)]
          end

          def told(comparison)
            outcome = comparison.different? ? "different" : "no measurable difference"
            "#{name_of(comparison)}: #{figure_of(comparison)}, #{outcome}"
          end

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
            @scale ||= begin
              values = [1, *items.map { |each| each.ratio.value }].map(&:to_f)
              ends = items.flat_map { |each| [each.ratio.low, each.ratio.high] }.compact
              Scales::Log.around(Scales.with_intervals(values, ends), ACROSS, air: 1.02)
            end
          end
        end
      end
    end
  end
end
