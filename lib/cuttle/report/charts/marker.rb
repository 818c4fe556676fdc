# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # The shape at a point. Each series has its own, by its slot. The text shows on hover.
      module Marker
        extend Markup

        SHAPES = %i[circle square triangle diamond bow].freeze

        module_function

        def at(x, y, slot, text = nil, radius: 3.8, hollow: false)
          shape = send(SHAPES[slot % SHAPES.length], radius)
          tag(:path, text && tag(:title, text), class: "marker s#{slot + 1}#{" hollow" if hollow}",
                                                d: "M#{Charts.at(x)} #{Charts.at(y)}#{shape}")
        end

        # The line and the marker of a series, for the legend.
        def swatch(slot)
          tag(:svg, tag(:path, class: "line s#{slot + 1}", d: "M0 6H24"), at(12, 6, slot),
              class: "swatch", viewBox: "0 0 24 12", width: 24, height: 12, aria_hidden: "true")
        end

        def circle(radius)
          "m#{-radius} 0a#{radius} #{radius} 0 1 0 #{2 * radius} 0a#{radius} #{radius} 0 1 0 #{-2 * radius} 0z"
        end

        def square(radius)
          side = (radius * 1.8).round(2)
          "m#{-side / 2} #{-side / 2}h#{side}v#{side}h#{-side}z"
        end

        def triangle(radius)
          side = (radius * 2.3).round(2)
          "m0 #{(-radius * 1.2).round(2)}l#{side / 2} #{(radius * 2).round(2)}h#{-side}z"
        end

        def diamond(radius)
          half = (radius * 1.3).round(2)
          "m0 #{-half}l#{half} #{half}l#{-half} #{half}l#{-half} #{-half}z"
        end

        def bow(radius)
          half = (radius * 1.1).round(2)
          "m#{-half} #{-half}v#{2 * half}l#{2 * half} #{-2 * half}v#{2 * half}z"
        end
      end
    end
  end
end
