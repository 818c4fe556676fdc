# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # The shape of a study in one figure: published and measured values, each divided by the geometric mean of its
        # kind. Absolute numbers differ between machines. Where the marks of a row coincide, the shape is the same.
        class Shape < Cuttle::Report::Charts::Ratios
          METRICS = %w[rate p50 p90].freeze # the first one that was published is shown
          MANY = 40 # most rows in a figure
          LEAST = 3 # fewer rows have no shape
          NAMES = { 1 => "published", 0 => "ours" }.freeze # by slot

          # A row's values, divided by the means of all rows.
          Pair = Struct.new(:published, :ours)

          # A figure, or nil if there is nothing to draw. rows: an Array of Rows::Row.
          def self.figure(table, curves, others)
            metric = METRICS.find { |name| table.published?(name) } or return
            rows = table.rows.length > MANY ? curves.map { |curve| curve.points.last.last } + others : table.rows
            values = rows.uniq { |row| row.entry.object_id }.filter_map { |row| row.value(metric) }
            compared = values.select { |value| value.ratio&.positive? }
            new(metric, compared).to_html if compared.length >= LEAST
          end

          # values: an Array of Reproduction, with both numbers.
          def initialize(metric, values)
            title = "#{Figures.title(metric)}: the shape, published against ours"
            pairs = values.map { |value| [value.ours.value / value.ratio, value.ours.value] }
            means = pairs.transpose.map { |numbers| mean(numbers) }
            items = values.zip(pairs).map { |value, pair| item(value, Pair.new(*pair.zip(means).map { |n, m| n / m })) }
            super(title, "times the mean", items)
          end

          # A figure.
          def to_html
            super(@heading, legend: NAMES.to_a)
          end

          private

          def mean(numbers)
            Math.exp(numbers.sum { |number| Math.log(number) } / numbers.length)
          end

          def item(value, pair)
            name = "#{value.entry.row.id} #{value.condition.name}, #{value.condition.load_name}"
            figure = pair.map { |number| Numbers.ratio(number) }.join(" → ")
            Item.new(name: name, figure: figure, value: pair, text: "#{name}: published #{figure} ours")
          end

          def draw(item, y)
            places = NAMES.to_h { |slot, _| [slot, scale.call(slot == 1 ? item.value.published : item.value.ours)] }
            ends = places.values.map { |place| Cuttle::Report::Charts.at(place) }
            [tag(:path, class: "whisker s1", d: "M#{ends.first} #{y}H#{ends.last}"),
             places.map do |slot, place|
               Cuttle::Report::Charts::Marker.at(place, y, slot, "#{NAMES[slot]}: #{item.text}", hollow: slot == 1,
                                                                                                   radius: @radius)
             end]
          end

          def values
            @items.flat_map { |item| item.value.to_a }
          end

          def ends
            []
          end
        end

        register "shape", at: 5 do |table, curves, rows|
          [Shape.figure(table, curves, rows)]
        end
      end
    end
  end
end
