# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Rows of bars that begin at zero. The interval of an estimate is drawn across the end of its bar. A level is a
      # value that all bars are compared with: a line across them. It has the first row, in place of a bar. A bar that
      # would leave the others too little room ends with a gap, and goes to the edge of the scale only.
      class Bars < Rows
        BAR = 11 # height of a bar
        LEVEL = 18 # height of the line across a bar. It leaves out the names
        LONGEST = 2 # times the next one: a longer bar gets a gap

        # level: an Item, or nil. The other arguments are those of Rows.
        def initialize(heading, unit, items, level: nil, &label)
          super(heading, unit, [level, *items].compact, &label)
          @level = level
        end

        private

        def draw(item, y)
          left, right = [0, item.value.value].map { |value| scale.within(value) }
          [(bar(left, right, y, item.slot, item.text) unless item.equal?(@level)), (level(y) if @level),
           too_long?(item) ? gap(right, y) : whisker(item.value, y, item.slot)]
        end

        def too_long?(item)
          others = @items.reject { |each| each.equal?(item) }.map { |each| each.value.value }
          others.any? && item.value.value > LONGEST * others.max
        end

        def scaled
          @items.reject { |item| too_long?(item) }
        end

        # left, right: coordinates. text: shows on hover.
        def bar(left, right, y, slot, text)
          width = Charts.at([right - left, 0.5].max)
          tag(:path, tag(:title, text), class: "bar s#{slot + 1}",
                                        d: "M#{Charts.at(left)} #{y - 5}h#{width}v#{BAR}h-#{width}z")
        end

        def gap(right, y)
          tag(:path, class: "gap", d: "M#{Charts.at(right - 16)} #{y + 8}l6 -16m5 0l-6 16")
        end

        def level(y)
          tag(:path, class: "level", d: "M#{Charts.at(scale.call(@level.value.value))} #{y - (LEVEL / 2)}v#{LEVEL}")
        end
      end
    end
  end
end
