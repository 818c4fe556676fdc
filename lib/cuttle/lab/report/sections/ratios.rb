# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The ratio of each configuration to the base, with its interval: of rates or, under an open loop, of p95s. A
        # filled mark is a difference, a hollow mark means that no difference could be measured.
        module Ratios
          extend Markup

          module_function

          # The chart of one load, or nil.
          def chart(view, load)
            comparisons = view.comparisons(load).reject { |each| each.configuration.control_of } + view.controls(load)
            return if comparisons.empty?

            measure = comparisons.first.measure.name
            words = "times the #{measure} of "
            Charts::Ratios.new("Ratios to the #{measure} of #{view.base.name}, #{load.name}",
                               words + Charts::Rows.short(view.base.name, beside: words),
                               comparisons.map { |each| item(each) }, radius: 4.2).to_html(load.name)
          end

          # The controls come last. A control has the name of the configuration that it repeats.
          def item(comparison)
            control = comparison.configuration.control_of
            name = control ? "control: #{comparison.baseline.name} by itself" : comparison.configuration.name
            ratio = comparison.ratio
            interval = Numbers.interval(ratio, :ratio)
            figure = [Numbers.ratio(ratio.value), interval && "(#{interval})"].compact.join(" ")
            different = comparison.different?
            Charts::Rows::Item.new(name: name, figure: figure, value: ratio, slot: different ? 1 : 0,
                                   hollow: !different, text: "#{name}: #{figure}, #{said(comparison)}")
          end

          def said(comparison)
            return "different" if comparison.different?

            comparison.undecided? ? "too few rounds to tell" : "no measurable difference"
          end

          def lead(view)
            "Rates divided by that of #{view.base.name}, paired by round, with 95% intervals#{open_loops(view)}. A " \
              "filled square is a difference, after correction for the number of comparisons. A hollow circle is no " \
              "measurable difference. The control compares a configuration with itself: its interval should hold 1."
          end

          # If the load has a given rate, response times show how fast the server is.
          def open_loops(view)
            return unless view.loads.any?(&:open?)

            "; under a load with a given rate, p95 divided by that of the base, so less is better"
          end

          # The smallest difference that the lab could detect.
          def limits(view)
            seen = view.loads.flat_map { |load| view.comparisons(load) }.filter_map(&:detectable)
            return if seen.empty?

            least, most = seen.minmax.map { |each| Numbers.effect(each) }
            between = least == most ? least : "#{least} to #{most}, depending on the pair"
            Sheet.lead("The smallest difference that this lab could detect: #{between}.")
          end
        end

        register "ratios", "Ratios", at: 40 do |view|
          charts = grid(view) { |load| Ratios.chart(view, load) }
          [Sheet.lead(Ratios.lead(view)), charts, Ratios.limits(view)] if charts
        end
      end
    end
  end
end
