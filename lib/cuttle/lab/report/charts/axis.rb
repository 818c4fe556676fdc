# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Lines of the grid, and what they stand for.
        module Axis
          extend Markup

          APART = 30 # units between labels on a horizontal axis, at least
          LETTER = 8 # units that one takes, about

          module_function

          # Upright lines from +top+ to +bottom+, labels below. +ticks+: [[coordinate, label]].
          def horizontal(ticks, top, bottom)
            labelled = apart(ticks)
            safe(labelled.map do |x, label|
              [tag(:path, class: "grid", d: "M#{Charts.at(x)} #{Charts.at(top)}V#{Charts.at(bottom)}"),
               tag(:text, label, class: "tick middle", x: Charts.at(inside(x, label)), y: Charts.at(bottom + 14))]
            end)
          end

          # Level lines from +left+ to +right+, labels on their left.
          def vertical(ticks, left, right)
            safe(ticks.map do |y, label|
              [tag(:path, class: "grid", d: "M#{Charts.at(left)} #{Charts.at(y)}H#{Charts.at(right)}"),
               tag(:text, label, class: "tick end", x: Charts.at(left - 5), y: Charts.at(y + 3.5))]
            end)
          end

          # Where a label's middle may be, for all of it to be seen.
          def inside(x, label)
            half = label.length * LETTER / 2
            x.clamp(half, WIDTH - half)
          end

          # Those that don't run into each other; the last one stays.
          def apart(ticks)
            ticks.reverse.each_with_object([]) do |tick, kept|
              kept.unshift(tick) if kept.empty? || kept.first[0] - tick[0] >= APART
            end
          end
        end
      end
    end
  end
end
