# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # The room in which lines are drawn: two axes with their labels.
        class Frame
          include Markup

          HEIGHT = 224
          LEFT = 50
          RIGHT = 12
          TOP = 12
          BOTTOM = 40
          ACROSS = [LEFT + 8, WIDTH - RIGHT - 8].freeze
          UP = [HEIGHT - BOTTOM, TOP].freeze

          # x_ticks, y_ticks: [[value, label]]. x_label: what the horizontal axis counts.
          def initialize(x:, y:, x_ticks:, y_ticks:, x_label:)
            @x = x
            @y = y
            @x_ticks = x_ticks
            @y_ticks = y_ticks
            @x_label = x_label
          end

          # +title+ and +description+ are for those who don't see it. +marks+: what is in it.
          def svg(title, description, *marks)
            Figure.svg(HEIGHT, title, description, axes, *marks)
          end

          private

          def axes
            [Axis.vertical(@y_ticks.map { |value, label| [@y.call(value), label] }, LEFT, WIDTH - RIGHT),
             Axis.horizontal(@x_ticks.map { |value, label| [@x.call(value), label] }, TOP, HEIGHT - BOTTOM),
             tag(:text, @x_label, class: "label end", x: WIDTH - RIGHT, y: HEIGHT - 8)]
          end
        end
      end
    end
  end
end
