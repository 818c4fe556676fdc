# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Response times as each run went on.
        module Timeline
          extend Markup

          HEADING = "Response times over time"

          module_function

          def content(view)
            charts = Sections.by_load(view) { |load| Charts::Timeline.new(view, load).to_html }
            return if charts.empty?

            safe(Sections.lead("Second by second, a line for each run: p50 whole, p99 dashed. Lines that rise or " \
                               "fall were not warm yet; one that stays apart was a bad start."), charts)
          end
        end
      end
    end
  end
end
