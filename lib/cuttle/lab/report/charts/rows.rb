# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # A row for each configuration under one load: its name, a figure at the right, a drawing below, and one axis
        # for all. What is drawn, a subclass says: svg_of(row's item, y).
        class Rows
          include Markup

          PITCH = 36
          TOP = 4
          ACROSS = [14, WIDTH - 14].freeze
          LETTER = 6.7 # units that one takes, about: what a name has no room for is in its title

          def initialize(view, load)
            @view = view
            @load = load
          end

          def to_html
            Figure.of(@load.name, svg, legend: []) if items.any?
          end

          private

          def svg
            bottom = TOP + (items.length * PITCH)
            rows = items.map.with_index { |item, index| row(item, TOP + (index * PITCH)) }
            Figure.svg(bottom + 36, heading, description, axis(bottom), rows,
                       tag(:text, unit, class: "label end", x: WIDTH - 8, y: bottom + 30))
          end

          def axis(bottom)
            Axis.horizontal(ticks.map { |value, label| [scale.call(value), label] }, TOP, bottom)
          end

          def row(item, top)
            name, figure = name_of(item), figure_of(item)
            tag(:g, tag(:text, short(name, beside: figure), tag(:title, name), class: "name", x: 8, y: top + 13),
                tag(:text, figure, class: "figure end", x: WIDTH - 8, y: top + 13), svg_of(item, top + 24))
          end

          def short(name, beside:)
            name = clean(name)
            room = ((WIDTH - 24) / LETTER).floor - beside.length
            name.length > room ? "#{name[0, [room - 1, 1].max]}…" : name
          end

          def description
            items.map { |item| "#{name_of(item)}: #{figure_of(item)}." }.join(" ")
          end

          # An interval with a mark in it.
          def whisker(low, high, y, style)
            left, right = [low, high].map { |value| Charts.at(scale.within(value)) }
            tag(:path, class: "whisker #{style}", d: "M#{left} #{y - 3}v6M#{left} #{y}H#{right}M#{right} #{y - 3}v6")
          end
        end
      end
    end
  end
end
