# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Every run there was.
        module Dots
          extend Markup

          HEADING = "Every run"

          module_function

          def content(view)
            charts = view.loads.filter_map { |load| Charts::Dots.new(view, load).to_html }
            return if charts.empty?

            safe(Sections.lead("A circle is a run, one start of a server, by how far its rate is from the median " \
                               "of its configuration; below, that median's 95% interval. Hollow squares are runs " \
                               "that are not valid, and count for nothing."),
                 Charts::Figure.grid(charts))
          end
        end
      end
    end
  end
end
