# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # A study on a terminal.
      module Text
        module_function

        # A String.
        def render(findings)
          [heading(findings), table(findings), claims(findings), flaws(findings.study)].reject(&:empty?).join("\n\n") << "\n"
        end

        def heading(findings)
          [["#{findings.study.name}: #{findings.study.title}", findings.study.source].compact.join("\n"),
           *Rows.scale(findings.scale)].join("\n")
        end

        # Columns of published, ours and their ratio for each metric.
        def table(findings)
          metrics, rows = Rows.of(findings)
          names = metrics.flat_map { |metric| [Rows::METRICS[metric], "ours", "ratio"] }
          lines = rows.map do |row|
            next [row.id, row.reason] if row.reason

            [row.id, row.server, row.load, *row.cells.flat_map { |cell| cell ? cell.map(&:to_s) : ["", "", ""] }]
          end
          columns([["", "server", "load", *names], *lines])
        end

        # Numbers to the right.
        def columns(lines)
          widths = lines.select { |line| line.length > 2 }.transpose.map { |cells| cells.map(&:length).max }
          lines.map do |line|
            line.each_with_index.map { |cell, index| index < 3 ? cell.ljust(widths[index]) : cell.rjust(widths[index]) }
                .join("  ").rstrip
          end.join("\n")
        end

        def claims(findings)
          findings.verdicts.map do |verdict|
            ["#{verdict.claim.id} #{[Findings::WORDS[verdict.verdict], verdict.by].compact.join(" on ")}: #{verdict.claim.text}",
             *verdict.reason&.then { |reason| "    #{reason}" },
             *verdict.evidence.map do |statement, found, decided|
               "    #{Findings::WORDS[decided]}: #{statement.text}: #{Rows.estimate(found)}, to be #{statement.bounds}"
             end].join("\n")
          end.join("\n")
        end

        def flaws(study)
          study.flaws.map { |flaw| "flaw of the original: #{flaw}" }.join("\n")
        end
      end
    end
  end
end
