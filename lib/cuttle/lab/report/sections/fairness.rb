# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # What is the same for all, and what isn't.
        module Fairness
          extend Markup

          HEADING = "Fairness"

          module_function

          def content(view)
            rows = (view.results.fairness || []).sort_by { |each| each["same"] ? 1 : 0 }.map do |each|
              [each["what"], each["same"] ? "the same" : tag(:strong, "differs", class: "bad"), each["detail"].to_s]
            end
            Sections.table("What was held equal", ["what", "for all", "how"], rows) if rows.any?
          end
        end
      end
    end
  end
end
