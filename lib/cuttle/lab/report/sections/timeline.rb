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

            safe(Sections.lead("p50 whole, p99 dashed. Second by second, a line is a run: one that rises or falls " \
                               "was not warm yet, one that stays apart was a bad start. Where runs are as short as " \
                               "that, a line goes from round to round."), charts)
          end
        end
      end
    end
  end
end
