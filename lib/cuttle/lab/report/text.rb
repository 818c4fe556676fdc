# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The lab on a terminal: a table for each load, what is to be said against it, and the verdict last, where the
      # eye is when it ends.
      module Text
        # What fits beside each other; the page has the others too.
        COLUMNS = ["requests/s", "ratio", "p50", "p95", "p99", "CPU", "memory", "errors", "runs"].freeze
        WITH_INTERVAL = "requests/s"

        module_function

        def render(view)
          parts = [heading(view), *view.loads.map { |load| table(view, load) }, footnote(view), against(view),
                   verdict(view)]
          Markup.clean(parts.compact.join("\n\n")) << "\n"
        end

        def heading(view)
          "#{view.app}, lab #{view.results.id}\n#{view.scope.join(", ")}"
        end

        def table(view, load)
          columns = Table::COLUMNS.select { |column| COLUMNS.include?(column.name) }
          header = [load.name, *columns.flat_map { |column| names(column) }]
          rows = view.rows(load).map do |row|
            [row.configuration.name, *columns.flat_map { |column| figures(column, row, view) }]
          end
          align([header, *rows])
        end

        def names(column)
          column.name == WITH_INTERVAL ? [column.name, "95% interval"] : [column.name]
        end

        def figures(column, row, view)
          cell = column.cell.call(row, view)
          column.name == WITH_INTERVAL ? [cell.figure, cell.interval || Numbers::NONE] : [cell.figure]
        end

        # The first column to the left, figures to the right.
        def align(rows)
          widths = rows.transpose.map { |cells| cells.map(&:length).max }
          rows.map do |name, *figures|
            cells = figures.zip(widths.drop(1)).map { |cell, width| cell.rjust(width) }
            [name.ljust(widths.first), *cells].join("  ").rstrip
          end.join("\n")
        end

        def footnote(view)
          return unless view.base && view.configurations.length > 1

          measure = view.loads.any?(&:open?) ? "rate (with a given rate: p95)" : "rate"
          "ratio: #{measure} by that of #{view.base.name}; in parentheses where no difference could be measured"
        end

        # What isn't as it should be, a line each.
        def against(view)
          lines = [*objections(view), *warnings(view), *missing(view), *failures(view), *invalid(view)]
          lines.map { |line| "! #{line}" }.join("\n") unless lines.empty?
        end

        def objections(view)
          results = view.results
          results.cut.to_a.map { |sentence| "left out for the budget: #{sentence}" } +
            results.damages.map { |damage| "results file, line #{damage.line}: #{damage.reason}" }
        end

        def warnings(view)
          view.warnings.map do |warning|
            often = " (the first of #{warning.runs} such runs)" if warning.runs > 1
            [[warning.text, often].join, warning.advice].compact.join("; ")
          end
        end

        def missing(view)
          view.results.missing.map do |each|
            "not measured: #{view.name_of_configuration(each.configuration)}: #{each.reason}"
          end
        end

        def failures(view)
          view.results.failures.map do |each|
            "failed: #{view.name_of_configuration(each.configuration)}, #{view.name_of_load(each.load)}, " \
              "round #{each.block.to_i + 1}: #{each.reason}"
          end
        end

        # A reason that several runs share is said once.
        def invalid(view)
          view.invalid.group_by { |run| [run.configuration, run.reasons || []] }.map do |(id, reasons), runs|
            "not valid: #{view.name_of_configuration(id)}, #{Numbers.plural(runs.length, "run")}: #{reasons.join("; ")}"
          end
        end

        def verdict(view)
          view.analysis.verdict.join("\n")
        end
      end
    end
  end
end
