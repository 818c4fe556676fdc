# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # A study as Markdown: the part of docs/studies.md about it, and the result in its README.
      module Markdown
        module_function

        # A String: claims first, then the numbers.
        def render(findings)
          [conditions(findings), claims(findings), table(findings), flaws(findings.study)].reject(&:empty?).join("\n\n") << "\n"
        end

        def conditions(findings)
          results = findings.results
          machine = results.environment.values_at("cpu", "kernel", "ruby").compact.join(", ")
          ["Measured #{results.started_at.to_s[0, 10]} on #{machine}; #{results.environment["server_cores"].length} " \
           "core(s) for the servers, #{results.rounds} blocks", *Rows.scale(findings.scale)].join("; ") << "."
        end

        def claims(findings)
          rows = findings.verdicts.map do |verdict|
            ["#{verdict.claim.id}: #{verdict.claim.text}", verdict.by.to_s, "**#{Findings::WORDS[verdict.verdict]}**", evidence(verdict)]
          end
          rows.empty? ? "" : lines(["claim", "tried on", "verdict", "evidence"], rows)
        end

        def evidence(verdict)
          return verdict.reason if verdict.reason

          verdict.evidence.map { |statement, found, _| "#{statement.text}: #{Rows.estimate(found)}, to be #{statement.bounds}" }.join("; ")
        end

        def table(findings)
          metrics, rows = Rows.of(findings)
          names = metrics.flat_map { |metric| ["#{Rows::METRICS[metric]}, published", "ours", "ratio"] }
          lines(["id", "server", "load", *names], rows.map { |row| cells(row, names.length) })
        end

        def cells(row, count)
          return [row.id, row.reason, *[""] * (count + 1)] if row.reason

          [row.id, row.server, row.load, *row.cells.flat_map { |cell| cell ? cell.map(&:to_s) : [""] * 3 }]
        end

        def lines(header, rows)
          [header, header.map { "---" }, *rows].map { |cells| "| #{cells.map { |cell| cell.gsub("|", "\\|") }.join(" | ")} |" }.join("\n")
        end

        def flaws(study)
          study.flaws.map { |flaw| "- Known flaw of the original: #{flaw}" }.join("\n")
        end
      end
    end
  end
end
