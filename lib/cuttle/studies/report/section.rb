# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # A study on the page: its question, the verdicts on its claims, the numbers beside the published ones, the flaws
      # of the original, and the conditions.
      module Section
        extend Markup

        LEAD = "Medians over the starts of each server, with 95% intervals"

        module_function

        def content(findings)
          study = findings.study
          table = Rows.of(findings)
          safe(tag(:p, study.question, class: "question"), tag(:p, study.source, class: "method"), verdicts(findings),
               charts(table), rows(table, "#{study.name}: all rows"), tag(:h3, "Design"),
               tag(:p, study.design, class: "lead"), flaws(study), conditions(findings))
        end

        # A verdict, in its own colour.
        def word(verdict)
          tag(:b, verdict.word, class: "word #{verdict.verdict}")
        end

        def verdicts(findings)
          return if findings.verdicts.empty?

          claims = findings.verdicts.group_by(&:claim).map { |claim, verdicts| tag(:li, claim(claim, verdicts)) }
          tag(:div, tag(:ul, claims, class: "claims"), Claims.chart(findings.verdicts), class: "verdicts")
        end

        # A claim, with its verdict on each server.
        def claim(claim, verdicts)
          [tag(:p, "#{claim.id}: #{claim.text}"),
           verdicts.map do |verdict|
             [word(verdict), *(tag(:span, " on #{verdict.by}") if verdict.by),
              tag(:small, Markdown.evidence(verdict))]
           end]
        end

        def charts(table)
          figures = Charts.of(table)
          return if figures.empty?

          published = table.metrics.any? { |metric| table.published?(metric) }
          lead = Sheet.lead("#{LEAD}#{"; published numbers have none" if published}.")
          safe(tag(:h3, "Numbers"), lead, Cuttle::Report::Charts.grid(figures))
        end

        # All rows, folded.
        def rows(table, caption)
          rows = table.rows.map { |row| cells(row, table) }
          header = ["", "server", "load", *table.metrics.map { |metric| Figures.title(metric) }]
          tag(:details, tag(:summary, caption), Sheet.table(caption, header, rows), class: "load")
        end

        def cells(row, table)
          return [row.id, row.reason, "", *[""] * table.metrics.length] if row.reason

          [[row.id, *(tag(:small, row.settings) unless row.settings.empty?)], row.server, row.load,
           *table.metrics.map { |metric| cell(row.value(metric)) }]
        end

        # The measured number, and below it the published one.
        def cell(value)
          return "" unless value
          return Figures.estimate(value.metric, value.ours) unless value.published

          [Figures.text(value.metric, value.ours&.value),
           tag(:small, "published #{Figures.text(value.metric, value.published)}"),
           *(tag(:small, "ratio #{Numbers.ratio(value.ratio)}") if value.ratio)]
        end

        def flaws(study)
          return if study.flaws.empty?

          safe(tag(:h3, "Known flaws of the original"),
               tag(:ul, study.flaws.map { |flaw| tag(:li, flaw) }, class: "flaws"))
        end

        def conditions(findings)
          troubles = Conditions.troubles(findings)
          safe(tag(:h3, "Conditions"),
               tag(:p, Conditions.measured(findings), class: "lead"),
               (tag(:ul, troubles.map { |trouble| tag(:li, trouble) }, class: "flaws") if troubles.any?),
               tag(:pre, tag(:code, Conditions.command(findings))))
        end
      end
    end
  end
end
