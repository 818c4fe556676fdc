# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Who is faster than the base, and by how much, under each load.
        module Forest
          extend Markup

          HEADING = "Ratios"

          module_function

          def content(view)
            charts = view.loads.filter_map { |load| Charts::Forest.new(view, load).to_html }
            return if charts.empty?

            safe(Sections.lead("Rates by that of #{view.base.name}, paired by round, with 95% " \
                               "intervals#{open_loops(view)}. Square and filled: a difference, corrected for how " \
                               "many comparisons there are. Hollow circle: none that could be measured. The control " \
                               "is a configuration by itself: its interval should hold 1."),
                 Charts::Figure.grid(charts), limits(view))
          end

          # At a given rate the server's speed is in the times.
          def open_loops(view)
            return unless view.loads.any?(&:open?)

            "; where the load has a rate of its own, p95 by that of the base, so less is better"
          end

          # How small a difference would have been seen.
          def limits(view)
            seen = view.loads.flat_map { |load| view.comparisons(load) }.filter_map(&:detectable)
            return if seen.empty?

            least, most = seen.minmax.map { |each| Numbers.effect(each) }
            between = least == most ? least : "#{least} to #{most}, depending on the pair"
            Sections.lead("The smallest difference that this lab would have seen: #{between}.")
          end
        end
      end
    end
  end
end
