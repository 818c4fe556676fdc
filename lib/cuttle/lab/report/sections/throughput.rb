# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Responses per second against concurrency.
        module Throughput
          extend Markup

          HEADING = "Throughput against concurrency"

          module_function

          def content(view)
            charts = Curves.of(view, name: "throughput", log: false, tick: :tick_count, value: :rate, unit: "/s",
                               &:rate)
            return if charts.empty?

            safe(Sections.lead("Responses per second, medians with 95% intervals; a panel for each model, all others " \
                               "grey behind it, on one scale."), charts)
          end
        end
      end
    end
  end
end
