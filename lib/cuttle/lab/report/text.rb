# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The lab on a terminal: a table for each load, then all warnings, then the verdict, then the recommendation. The
      # recommendation comes last, because readers look there when the command ends.
      module Text
        # The columns that fit on a terminal. The page has all of them.
        COLUMNS = ["requests/s", "ratio", "p50", "p95", "p99", "CPU", "memory", "errors", "runs"].freeze
        WITH_INTERVAL = "requests/s"

        module_function

        def render(view)
          parts = [heading(view), *view.loads.map { |load| table(view, load) }, footnote(view), troubles(view),
                   verdict(view), recommendation(view)]
          Markup.clean(parts.compact.join("\n\n")) << "\n"
        end

        def heading(view)
          "#{view.app}, lab #{view.results.id}\n#{view.scope.join(", ")}"
        end

        def table(view, load)
          columns = Table::COLUMNS.select { |column| COLUMNS.include?(column.name) }
          header = [load.name, *columns.flat_map { |column| names(column) }]
          rows = view.ranked(load).flat_map do |title, members|
            [*([[title]] if title), *members.map { |row| cells(row, columns, view) }]
          end
          Columns.align([header, *rows])
        end

        def cells(row, columns, view)
          [row.configuration.name, *columns.flat_map { |column| figures(column, row, view) }]
        end

        def names(column)
          column.name == WITH_INTERVAL ? [column.name, "95% interval"] : [column.name]
        end

        def figures(column, row, view)
          cell = column.cell.call(row, view)
          column.name == WITH_INTERVAL ? [cell.figure, cell.interval || Numbers::NONE] : [cell.figure]
        end

        def footnote(view)
          return unless view.base && view.configurations.length > 1

          measure = view.loads.any?(&:open?) ? "rate (with a given rate: p95)" : "rate"
          "ratio: #{measure} divided by that of #{view.base.name}; in parentheses if there is no measurable difference"
        end

        # All failures and warnings, one line each.
        def troubles(view)
          lines = [*losses(view), *warnings(view), *missing(view), *failures(view), *invalid(view)]
          lines.map { |line| "! #{line}" }.join("\n") unless lines.empty?
        end

        def losses(view)
          results = view.results
          results.cut.to_a.map { |sentence| "left out for the budget: #{sentence}" } +
            view.left_out.map { |sentence| "left out #{sentence}" } +
            results.damages.map { |damage| "results file, line #{damage.line}: #{damage.reason}" }
        end

        def warnings(view)
          view.warnings.map do |warning|
            often = " (the worst of #{warning.runs} such runs)" if warning.runs > 1
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
            names = view.names(each.configuration, each.load).join(", ")
            "failed: #{names}, round #{each.block.to_i + 1}: #{each.reason}"
          end
        end

        # Runs of a configuration with the same reasons share a line.
        def invalid(view)
          view.invalid.group_by { |run| [run.configuration, run.reasons || []] }.map do |(id, reasons), runs|
            "not valid: #{view.name_of_configuration(id)}, #{Units.plural(runs.length, "run")}: #{reasons.join("; ")}"
          end
        end

        def verdict(view)
          view.analysis.verdict.join("\n")
        end

        def recommendation(view)
          found = Recommendation.new(view)
          return unless found.any?

          [Columns.align([found.header, *found.rows], left: [0, 1]), "", found.sentence, *found.notes].join("\n")
        end
      end
    end
  end
end
