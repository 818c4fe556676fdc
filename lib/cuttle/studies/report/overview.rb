# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # docs/studies.md: what the field believed about the concurrency of Ruby servers, and what this project found.
      module Overview
        MADE = "<!-- Made by `cuttle study report` from what is in studies/. -->"
        LEAD = <<~TEXT.gsub("\n", " ").strip
          These studies repeat the experiments on the concurrency of Ruby servers that were published between 2013 and
          2019. They use the same apps, models and loads, on Cuttle (with the model and the defaults of the original
          server) and, if it can still be installed, on the original server itself. Absolute numbers differ between
          machines, so the studies test orders, shapes and ratios. A claim may consist of several statements. Each is a
          measured ratio and its expected range; the intervals of a claim hold together with 95%. A claim
          is *confirmed* if each interval lies wholly inside its range, and *refuted* if each lies wholly outside. It is
          *confirmed in part* if some statements are confirmed and the others are not decided. It is *refuted in part*
          if at least one statement is refuted but not all. *At the border* means that the ratio is known to lie within
          5% of a bound. Any other claim is *not decided*. A claim that this machine can't test is *not testable here*.
          Only a server itself can confirm or refute a claim about it. Cuttle, in the place of that server, shows
          whether such a statement *holds* or *fails* for the model.
        TEXT

        module_function

        # all: the Findings of each study. missing: names of studies without results. again: further Findings, with
        # other Rubies. beliefs: Beliefs::Sentences.
        def render(all, missing: [], again: [], beliefs: [])
          summary = Summary.new(all, again: again)
          [MADE, "# What the field believed, and what we found", LEAD, *believed(summary.beliefs(beliefs)),
           "## #{Threats::TITLE}", Markdown.list(Threats.of(all, again: again)), *claims(summary),
           *questions(all, summary), "## The studies", *all.map { |findings| paragraph(findings) },
           *not_yet(missing)].join("\n\n") << "\n"
        end

        def believed(pairs)
          return [] if pairs.empty?

          sentences = pairs.map.with_index(1) do |(sentence, line), number|
            "#{number}. #{sentence.text} (#{link(line.study, line.claim.id)}: #{Markdown.inline(line.evidence)})"
          end
          ["## What to believe now", sentences.join("\n")]
        end

        def claims(summary)
          return [] if summary.published.empty?

          again = ["on another Ruby"] if summary.again?
          rows = summary.published.map do |line|
            [link(line.study, line.claim.id), line.claim.text, *verdicts(line), *(line.elsewhere.join(", ") if again),
             line.evidence]
          end
          header = ["", "what was published", "on Cuttle", "on the original server", *again, "evidence"]
          ["## The claims", summary.sentence, Markdown.table(header, rows)]
        end

        # The verdicts on Cuttle, and on other servers.
        def verdicts(line)
          [line.words([line.ours]).map { |word| "**#{word}**" }.join, line.words(line.others).join(", ")]
        end

        # A table for each study with questions of its own.
        def questions(all, summary)
          own = summary.own.group_by(&:study)
          asked = all.map(&:study).select { |study| own.key?(study) || study.entries.none? { |entry| entry.row.file } }
          return [] if asked.empty?

          ["## The questions that were left open", *asked.flat_map { |study| question(study, own.fetch(study, [])) }]
        end

        def question(study, lines)
          rows = lines.map { |line| [line.claim.text, *verdicts(line), line.evidence] }
          ["### #{study.name}: #{study.title}", study.question,
           *(Markdown.table(["expected", "on Cuttle", "on other servers", "evidence"], rows) if rows.any?),
           "Numbers, design and conditions: #{link(study, "studies/#{study.name}")}."]
        end

        def paragraph(findings)
          study = findings.study
          scale = findings.scale.full? ? "in full" : "at scale #{format("%g", findings.scale.factor)}"
          [link(study, "**#{study.name}**"), ": #{study.title}. ", *("#{study.source}. " if study.source),
           "Measured #{Conditions.date(findings)}, #{scale}, in #{Conditions.rounds(findings)}: ",
           Units.plural(study.entries.length, "row"), ", ",
           Units.plural(study.conditions.length, "measurement"), " in each round; #{control(findings)}."].join
        end

        # The A/A control in words.
        def control(findings)
          found = findings.control
          found ? "A/A control #{Figures.ratio(found)}" : "without an A/A control"
        end

        def not_yet(missing)
          "Without results yet: #{missing.join(", ")}." if missing.any?
        end

        def link(study, text)
          "[#{text}](../studies/#{study.name}/README.md)"
        end
      end
    end
  end
end
