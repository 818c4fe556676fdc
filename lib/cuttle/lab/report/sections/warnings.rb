# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # What was wrong with the machine or the measuring, and what to do about it.
        module Warnings
          extend Markup

          HEADING = "Warnings"

          module_function

          def content(view)
            warnings = view.results.warnings.map { |each| [each.text, each.advice] } + of_runs(view)
            items = warnings.tally.map { |(text, advice), count| item(text, advice, count) }
            tag(:ul, items, class: "warnings") if items.any?
          end

          def of_runs(view)
            view.results.runs.flat_map { |run| (run.warnings || []).map { |each| each.values_at("text", "advice") } }
          end

          def item(text, advice, count)
            tag(:li, tag(:strong, text), (" (#{count} times)" if count > 1), (tag(:p, advice) if advice))
          end
        end
      end
    end
  end
end
