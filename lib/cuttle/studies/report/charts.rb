# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The charts of a study's numbers. A chart registers itself in a file below charts/, with its position; a new
      # chart is one new file.
      #
      #   register "values", at: 30 do |table, curves, rows|
      #     table.metrics.map { |metric| Values.new(metric, rows).to_html }
      #   end
      module Charts
        PARTS = Cuttle::Report::Parts.new("#{__dir__}/charts")
        WIDE = 20 # the ratio of values from which an axis is logarithmic

        module_function

        # Registers a chart. The block takes a Rows::Table, its curves that are long enough for a line, and the rows
        # that are on none of these curves. It returns figures; a figure without content is nil.
        def register(name, at:, &figures)
          PARTS.add(name, figures, at: at)
        end

        # The figures of a Rows::Table, in order.
        def of(table)
          curves = Curves.of(table).select(&:long?)
          drawn = curves.flat_map { |curve| curve.points.map { |_, row| row.object_id } }
          others = table.rows.select { |row| row.condition && !drawn.include?(row.object_id) }
          PARTS.to_h.values.flat_map { |figures| figures.call(table, curves, others) }.compact
        end

        def wide?(values)
          values.max > WIDE * values.min
        end
      end
    end
  end
end
