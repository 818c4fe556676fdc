# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # studies/NAME/README.md: the question of a study, its design, its result and its conditions.
      module Readme
        MADE = "<!-- Made by `cuttle study report` from study.rb and results.jsonl. -->"

        module_function

        # again: further Findings of the study, with other Rubies. Returns a String.
        def render(findings, again: [])
          parts = [MADE, *heading(findings.study), "## Result", Markdown.render(findings).chomp,
                   "## Conditions", *conditions(findings), *again.flat_map { |each| elsewhere(each) }]
          parts.join("\n\n") << "\n"
        end

        def elsewhere(findings)
          ["## On #{Threats.ruby(findings.results.environment)}", *Markdown.claims(findings.verdicts),
           *conditions(findings)]
        end

        def heading(study)
          ["# #{study.name}: #{study.title}", *source(study), "**Question.** #{study.question}",
           "**Design.** #{study.design}", *flaws(study)]
        end

        def source(study)
          "Source: #{study.source}" if study.source
        end

        def flaws(study)
          ["Known flaws of the original:", Markdown.list(study.flaws)] if study.flaws.any?
        end

        def conditions(findings)
          troubles = Conditions.troubles(findings)
          [Conditions.measured(findings), *(Markdown.list(troubles) if troubles.any?), "Again:",
           "    #{Conditions.command(findings)}"]
        end
      end
    end
  end
end
