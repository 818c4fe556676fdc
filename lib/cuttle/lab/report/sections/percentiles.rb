# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The whole distribution of the response times under each load.
        module Percentiles
          extend Markup

          HEADING = "Percentile curves"

          module_function

          def content(view)
            charts = Sections.by_load(view) { |load| Charts::Percentiles.new(view, load).to_html }
            return if charts.empty?

            safe(Sections.lead("Response times of all valid runs together. A curve ends where fewer than ten values " \
                               "lie beyond it."), charts)
          end
        end
      end
    end
  end
end
