# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # One metric of the rows without published numbers, with intervals.
        class Values < Cuttle::Report::Charts::Rows
          # rows: an Array of Rows::Row.
          def initialize(metric, rows)
            @metric = metric
            rows = rows.select { |row| shown?(row.value(metric)) }
            names = names(rows)
            items = rows.zip(names).map { |row, name| item(row, name) }
            super(title, title, items) { |tick| Figures.tick(metric, tick) }
          end

          # A figure, or nil if there is nothing to draw.
          def to_html
            super(title)
          end

          private

          def shown?(value)
            value && value.published.nil? && value.ours&.value&.positive?
          end

          def title
            Figures.title(@metric)
          end

          # The parts of each row's name that differ between rows. If a question's columns distinguish its rows, only
          # these are shown.
          def names(rows)
            enough = rows.map(&:settings).uniq.length == rows.length
            parts = rows.map { |row| [row.id, row.settings, *([row.server, row.load] unless enough)] }
            common = parts.transpose.map { |same| same.uniq.one? && rows.length > 1 }
            parts.map { |each| each.reject.with_index { |part, index| common[index] || part.empty? }.join(" ") }
          end

          def item(row, name)
            ours = row.value(@metric).ours
            figure = Figures.estimate(@metric, ours)
            Item.new(name: name, figure: figure, value: ours, slot: row.condition.server == Findings::OURS ? 0 : 1,
                     text: "#{name}: #{figure}")
          end

          def scale
            @scale ||= Cuttle::Report::Charts::Scales.around(values, ends, ACROSS, log: Charts.wide?(values))
          end
        end

        register "values", at: 30 do |table, _, rows|
          table.metrics.map { |metric| Values.new(metric, rows).to_html }
        end
      end
    end
  end
end
