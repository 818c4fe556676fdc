# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # A study on a terminal.
      module Text
        module_function

        # Returns a String.
        def render(findings)
          parts = [heading(findings), table(findings), Conditions.too_few(findings).to_s, claims(findings),
                   flaws(findings.study)]
          parts.reject(&:empty?).join("\n\n") << "\n"
        end

        def heading(findings)
          [["#{findings.study.name}: #{findings.study.title}", findings.study.source].compact.join("\n"),
           *Conditions.scale(findings)].join("\n")
        end

        # For each metric, columns of the published number, the measured one and their ratio; only the measured one if
        # nothing was published.
        def table(findings)
          table = Rows.of(findings)
          names = table.metrics.flat_map { |metric| header(metric, table.published?(metric)) }
          lines = table.rows.map do |row|
            next [row.id, row.reason] if row.reason

            numbers = table.metrics.flat_map { |metric| cells(row, metric, table.published?(metric)) }
            [named(row), row.server, row.load, *numbers]
          end
          Columns.align([["", "server", "load", *names], *lines], left: 0..2)
        end

        def named(row)
          [row.id, row.settings].reject(&:empty?).join(" ")
        end

        def header(metric, published)
          published ? [Figures.title(metric), "ours", "ratio"] : [Figures.title(metric)]
        end

        def cells(row, metric, published)
          value = row.value(metric)
          return [""] * (published ? 3 : 1) unless value
          return [Figures.estimate(metric, value.ours)] unless published

          [value.published ? Figures.text(metric, value.published) : "", Figures.text(metric, value.ours&.value),
           value.published ? Numbers.ratio(value.ratio) : ""]
        end

        def claims(findings)
          findings.verdicts.map do |verdict|
            word = [verdict.word, verdict.by].compact.join(" on ")
            ["#{verdict.claim.id} #{word}: #{verdict.claim.text}",
             *verdict.evidence.map { |each| "    #{verdict.of(each.verdict)}: #{Figures.tested(each)}" },
             *Figures.reason(verdict)&.then { |text| "    #{text}" }].join("\n")
          end.join("\n")
        end

        def flaws(study)
          study.flaws.map { |flaw| "flaw of the original: #{flaw}" }.join("\n")
        end
      end
    end
  end
end
