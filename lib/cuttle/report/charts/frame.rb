# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Two axes with labels, and the area between them for lines.
      class Frame
        include Markup

        HEIGHT = 224
        LEFT = 50
        RIGHT = 12
        TOP = 12
        BOTTOM = 40
        ACROSS = [LEFT + 8, WIDTH - RIGHT - 8].freeze
        UP = [HEIGHT - BOTTOM, TOP].freeze

        # x, y: scales. unit: the unit of the horizontal axis. x_ticks: [[value, label]]. The block makes the label of a
        # value on the vertical axis.
        def initialize(x:, y:, unit:, x_ticks:, &label)
          @x = x
          @y = y
          @unit = unit
          @x_ticks = x_ticks
          @label = label
        end

        # A figure. title and description: for readers who use a screen reader. names: of its series. marks: its
        # content.
        def figure(caption, title, description, names, *marks)
          Charts.figure(caption, Charts.svg(HEIGHT, title, description, axes, *marks),
                        legend: names.map.with_index { |name, slot| [slot, name] })
        end

        def series(points, slot)
          Series.new(points, slot: slot, x: @x, y: @y)
        end

        # A group of lines in grey.
        def background(lines)
          tag(:g, lines.map { |points| series(points, 0).background })
        end

        private

        def axes
          [Axis.vertical(@y.ticks.map { |tick| [@y.call(tick), @label.call(tick)] }, LEFT, WIDTH - RIGHT),
           Axis.horizontal(@x_ticks.map { |value, label| [@x.call(value), label] }, TOP, HEIGHT - BOTTOM),
           tag(:text, @unit, class: "label end", x: WIDTH - RIGHT, y: HEIGHT - 8)]
        end
      end
    end
  end
end
