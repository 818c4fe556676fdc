# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Ratios to the base's rate (of an open loop: to its p95), with their intervals, on a scale of equal ratios.
        # Filled: a difference; hollow: none that could be measured.
        class Forest < Ratios
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

            "control: #{comparison.baseline.name} by itself"
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

          def values
            items.map { |each| each.ratio.value }
          end

          def ends
            items.flat_map { |each| [each.ratio.low, each.ratio.high] }.compact
          end
        end
      end
    end
  end
end
