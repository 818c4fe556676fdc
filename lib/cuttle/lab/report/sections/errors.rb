# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Requests that failed, and runs that came to nothing.
        module Errors
          extend Markup

          HEADING = "Errors"

          module_function

          def content(view)
            safe(requests(view), failures(view)) if view.loads.any?
          end

          def requests(view)
            rows = counts(view)
            return tag(:p, "No request failed.") if rows.empty?

            Sections.table("Requests that failed, in all runs", %w[configuration load error requests], rows)
          end

          def counts(view)
            counts = view.results.runs.each_with_object(Hash.new(0)) do |run, sums|
              view.errors(run).each { |error, count| sums[[run.configuration, run.load, error]] += count }
            end
            counts.map do |(configuration, load, error), count|
              [view.name_of_configuration(configuration), view.name_of_load(load), error.tr("_", " "),
               Numbers.count(count)]
            end
          end

          def failures(view)
            rows = view.results.failures.map do |each|
              [view.name_of_configuration(each.configuration), view.name_of_load(each.load),
               (each.block.to_i + 1).to_s, each.reason]
            end
            Sections.table("Runs that came to nothing", %w[configuration load round reason], rows) if rows.any?
          end
        end
      end
    end
  end
end
