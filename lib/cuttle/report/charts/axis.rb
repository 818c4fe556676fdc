# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # The lines of the grid and their labels. Ticks are [coordinate, label] each.
      module Axis
        extend Markup

        APART = 30 # the least distance of two labels on a horizontal axis
        LETTER = 8 # about the width of a letter

        module_function

        # Upright lines from +top+ to +bottom+, with labels below.
        def horizontal(ticks, top, bottom)
          safe(apart(ticks).map do |x, label|
            [tag(:path, class: "grid", d: "M#{Charts.at(x)} #{Charts.at(top)}V#{Charts.at(bottom)}"),
             tag(:text, label, class: "tick middle", x: Charts.at(inside(x, label)), y: Charts.at(bottom + 14))]
          end)
        end

        # Level lines from +left+ to +right+, with labels on their left.
        def vertical(ticks, left, right)
          safe(ticks.map do |y, label|
            [tag(:path, class: "grid", d: "M#{Charts.at(left)} #{Charts.at(y)}H#{Charts.at(right)}"),
             tag(:text, label, class: "tick end", x: Charts.at(left - 5), y: Charts.at(y + 3.5))]
          end)
        end

        # Where the middle of a label goes, so that the drawing holds all of it.
        def inside(x, label)
          half = label.length * LETTER / 2
          x.clamp(half, WIDTH - half)
        end

        # The ticks whose labels don't overlap. The last one always stays.
        def apart(ticks)
          ticks.reverse.each_with_object([]) do |tick, kept|
            kept.unshift(tick) if kept.empty? || kept.first[0] - tick[0] >= APART
          end
        end
      end
    end
  end
end
