# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # p50, p95 and p99 against concurrency.
        module Times
          extend Markup

          HEADING = "Response times against concurrency"
          SHOWN = %i[p50 p95 p99].freeze

          module_function

          def content(view)
            drawn = SHOWN.to_h { |name| [name, charts(view, name)] }.reject { |_, charts| charts.empty? }
            return if drawn.empty?

            safe(Sections.lead("Medians of the runs' percentiles with 95% intervals; times on a logarithmic axis."),
                 drawn.map { |name, charts| [tag(:h3, name), charts] })
          end

          def charts(view, name)
            Curves.of(view, name: name.to_s, log: true, tick: :tick_time, value: :milliseconds, &name)
          end
        end
      end
    end
  end
end
