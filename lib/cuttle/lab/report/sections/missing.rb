# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Who was to be measured and wasn't, and why.
        module Missing
          HEADING = "Not measured"

          module_function

          def content(view)
            rows = view.results.missing.map { |each| [view.name_of_configuration(each.configuration), each.reason] }
            Sections.table("Configurations without a run", %w[configuration reason], rows) if rows.any?
          end
        end
      end
    end
  end
end
