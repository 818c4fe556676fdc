# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # What a configuration costs in memory, in total and by process.
        module Memory
          extend Markup

          HEADING = "Memory"

          module_function

          def content(view)
            charts = view.loads.filter_map { |load| Charts::Memory.new(view, load).to_html }
            return if charts.empty?

            safe(Sections.lead("Proportional set size: pages that processes share count once, in equal parts. A bar " \
                               "is a configuration, its parts are its processes; the least first."),
                 Charts::Figure.grid(charts))
          end
        end
      end
    end
  end
end
