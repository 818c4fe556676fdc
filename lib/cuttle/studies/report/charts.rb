# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The charts of a study, from the lab's parts: lines where rows differ in how much is asked for, and for all
      # others ratios to what was published, or, of what nobody published, what was measured.
      module Charts
        autoload :Claims, "cuttle/studies/report/charts/claims"
        autoload :Lines, "cuttle/studies/report/charts/lines"
        autoload :Panels, "cuttle/studies/report/charts/panels"
        autoload :Published, "cuttle/studies/report/charts/published"
        autoload :Values, "cuttle/studies/report/charts/values"

        module_function

        # Of a study's table: figures, one after the other.
        def of(table)
          curves = Curves.of(table).select(&:long?)
          drawn = curves.flat_map { |curve| curve.points.map { |_, row| row.object_id } }
          others = table.rows.select { |row| row.cell && !drawn.include?(row.object_id) }
          [*Panels.of(curves, table), *published(others, table), *measured(others, table)].compact
        end

        # A figure for each metric; a mean only where there is no median.
        def published(rows, table)
          metrics = table.metrics.select { |metric| table.published?(metric) }
          metrics -= ["mean"] if metrics.include?("p50")
          metrics.map { |metric| Published.new(metric, rows).to_html }
        end

        def measured(rows, table)
          table.metrics.map { |metric| Values.new(metric, rows).to_html }
        end
      end
    end
  end
end
