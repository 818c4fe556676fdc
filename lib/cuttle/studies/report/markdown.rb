# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # A study's result as Markdown: its claims, then its numbers.
      module Markdown
        MANY = 60 # a table with more rows is compact
        IN_A_CELL = "In a cell: published → ours (ours by the published one)."
        ALONE = "Intervals are of 95%, between starts of the servers."

        module_function

        # Returns a String.
        def render(findings)
          [claims(findings.verdicts), numbers(findings)].compact.join("\n\n") << "\n"
        end

        # A table, or nil without claims.
        def claims(verdicts)
          rows = verdicts.map do |verdict|
            ["#{verdict.claim.id}: #{verdict.claim.text}", verdict.by.to_s,
             "**#{verdict.word}**", evidence(verdict)]
          end
          table(["claim", "tried on", "verdict", "evidence"], rows) if rows.any?
        end

        def evidence(verdict)
          measured = verdict.evidence.map { |each| Figures.tested(each) }.join("; ")
          [*(measured unless measured.empty?), *Figures.reason(verdict)].join(". ")
        end

        def numbers(findings)
          table = Rows.of(findings)
          curves = table.rows.length > MANY ? Curves.of(table) : []
          curves.any?(&:long?) ? compact(table, curves, findings.study) : whole(table)
        end

        # One row for each row of the study.
        def whole(table)
          trials = table.rows.any? { |row| !row.settings.empty? }
          header = ["id", *("what" if trials), "server", "load", *table.metrics.map { |metric| Figures.title(metric) }]
          rows = table.rows.map do |row|
            next [row.id, row.reason, *[""] * (header.length - 2)] if row.reason

            [row.id, *(row.settings if trials), row.server, row.load,
             *table.metrics.map { |metric| cell(row.value(metric)) }]
          end
          "#{legend(table)}\n\n#{table(header, rows)}"
        end

        # One row for each curve, with columns for some of its points.
        def compact(table, curves, study)
          levels = Curves.shown(curves.flat_map(&:levels))
          metrics = table.metrics.select { |metric| table.published?(metric) }
          metrics = table.metrics.first(1) if metrics.empty?
          parts = metrics.map { |metric| "#{Figures.title(metric)}:\n\n#{compact_table(curves, levels, metric)}" }
          [legend(table), *parts, left_out(table, study)].compact.join("\n\n")
        end

        def compact_table(curves, levels, metric)
          rows = curves.map do |curve|
            condition = curve.condition
            [[curve.id, curve.name].reject(&:empty?).join(" "), asked_for(condition.request), condition.name,
             *levels.map { |level| cell(curve.row(level)&.value(metric)) }]
          end
          amounts = levels.map { |level| Curves.amount(level, curves.first.condition) }
          table(["id", "asked for", "server", *amounts], rows)
        end

        # The time that a request takes, or its path.
        def asked_for(request)
          return request.path if request.times.empty?

          request.times.map { |name, value| "#{name.to_s.delete_suffix("_ms")} #{value} ms" }.join(", ")
        end

        def left_out(table, study)
          all = "All #{table.rows.length} rows: `cuttle study show studies/#{study.name}`."
          [all, *table.rows.select(&:reason).map { |row| "- #{row.id}: #{row.reason}" }.uniq].join("\n")
        end

        def legend(table)
          [*(IN_A_CELL if table.metrics.any? { |metric| table.published?(metric) }),
           *(ALONE if table.rows.any? { |row| row.values.any? { |value| value.published.nil? } })].join(" ")
        end

        # "9.84 → 3.31 (0.34)", or "3.31 (3.28 to 3.35)" if nothing was published.
        def cell(value)
          return "" unless value
          return Figures.estimate(value.metric, value.ours) unless value.published

          ratio = " (#{Numbers.ratio(value.ratio)})" if value.ratio
          "#{Figures.text(value.metric, value.published)} → #{Figures.text(value.metric, value.ours&.value)}#{ratio}"
        end

        def table(header, rows)
          lines = [header, header.map { "---" }, *rows]
          lines.map { |cells| "| #{cells.map { |cell| inline(cell) }.join(" | ")} |" }.join("\n")
        end

        # Text from outside (reasons, output of servers) can't leave its cell.
        def inline(text)
          Markup.clean(text).gsub(/\s+/, " ").gsub("|", "\\|").gsub("<", "&lt;")
        end

        def list(texts)
          texts.map { |text| "- #{inline(text)}" }.join("\n")
        end
      end
    end
  end
end
