# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The sections of the page, which register themselves in files below sections/. They show a View.
      module Sections
        PARTS = Cuttle::Report::Parts.new("#{__dir__}/sections")

        extend Cuttle::Report::Sections
        extend Markup

        module_function

        # One chart per load, side by side; nil if there is none.
        def grid(view, &chart)
          charts = view.loads.filter_map(&chart)
          Charts.grid(charts) if charts.any?
        end

        # The charts of each load: those of the busiest load are open, the others are folded.
        def by_load(view)
          [view.busiest, *view.loads].compact.uniq.filter_map do |load|
            content = yield load
            next unless content
            next safe(tag(:h3, load.name), content) if load == view.busiest

            tag(:details, tag(:summary, load.name), content, class: "load")
          end
        end
      end
    end
  end
end
