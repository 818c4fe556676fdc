# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # The grid lines and their labels. Ticks are an Array of [coordinate, label].
      module Axis
        extend Markup

        APART = 30 # the least distance between two labels on a horizontal axis
        LETTER = 8 # approximate width of a letter

        module_function

        # Vertical lines from +top+ to +bottom+, with labels below.
        def horizontal(ticks, top, bottom)
          safe(apart(ticks).map do |x, label|
            [tag(:path, class: "grid", d: "M#{Charts.at(x)} #{Charts.at(top)}V#{Charts.at(bottom)}"),
             tag(:text, label, class: "tick middle", x: Charts.at(inside(x, label)), y: Charts.at(bottom + 14))]
          end)
        end

        # Horizontal lines from +left+ to +right+, with labels on their left.
        def vertical(ticks, left, right)
          safe(ticks.map do |y, label|
            [tag(:path, class: "grid", d: "M#{Charts.at(left)} #{Charts.at(y)}H#{Charts.at(right)}"),
             tag(:text, label, class: "tick end", x: Charts.at(left - 5), y: Charts.at(y + 3.5))]
          end)
        end

        # The x of a label's middle, moved so that the label stays inside the drawing.
        def inside(x, label)
          half = label.length * LETTER / 2
          x.clamp(half, WIDTH - half)
        end

        # The ticks whose labels don't overlap. The last tick always stays.
        def apart(ticks)
          ticks.reverse.each_with_object([]) do |tick, kept|
            kept.unshift(tick) if kept.empty? || kept.first[0] - tick[0] >= APART
          end
        end
      end
    end
  end
end
