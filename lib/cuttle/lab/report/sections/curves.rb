# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Figures against concurrency, for each sweep of loads that has two points at least.
        module Curves
          extend Markup

          module_function

          # With a heading where there are several sweeps. Options are those of Charts::Against.
          def of(view, **options, &figure)
            drawn = view.sweeps.filter_map do |sweep|
              charts = Charts::Against.new(view, sweep, **options, &figure).to_html
              [sweep.name, charts] if charts
            end
            drawn.map { |name, charts| safe((tag(:h4, name) if drawn.length > 1), charts) }
          end
        end
      end
    end
  end
end
