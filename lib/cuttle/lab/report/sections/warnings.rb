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
            items = view.warnings.map { |warning| item(warning, view.results.runs.length) }
            tag(:ul, items, class: "warnings") if items.any?
          end

          def item(warning, runs)
            often = " (the first of #{warning.runs} such runs, of #{runs})" if warning.runs > 1
            tag(:li, tag(:strong, warning.text), often, (tag(:p, warning.advice) if warning.advice))
          end
        end
      end
    end
  end
end
