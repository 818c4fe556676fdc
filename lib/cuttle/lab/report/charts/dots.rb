# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # The rate of every run under one load: a dot each, hollow where the run is not valid, and the median with its
        # interval as a line below.
        class Dots < Rows
          def initialize(view, load)
            super()
            @view = view
            @load = load
          end

          private

          def title
            @load.name
          end

          def heading
            "The rate of every run, #{@load.name}"
          end

          def unit
            "requests/s"
          end

          def items
            @items ||= @view.rows(@load).map(&:configuration).select { |each| runs(each).any? }
          end

          def name_of(configuration)
            configuration.name
          end

          def figure_of(configuration)
            invalid = runs(configuration).count { |run| !run.valid? }
            "#{"#{invalid} not valid, " if invalid.positive?}median #{Numbers.rate(rate(configuration)&.value)}"
          end

          def svg_of(configuration, y)
            [median(rate(configuration), y + 6),
             runs(configuration).map { |run| dot(run, configuration, y - 1) }]
          end

          def median(rate, y)
            return unless rate&.value

            x = Charts.at(scale.call(rate.value))
            [(whisker(rate.low, rate.high, y, "s1") if Numbers.interval?(rate)),
             tag(:path, class: "median", d: "M#{x} #{y - 4}v8")]
          end

          def dot(run, configuration, y)
            text = "#{configuration.name}, round #{run.block + 1}: #{Numbers.rate(run.rate)}/s"
            text += ", not valid: #{(run.reasons || []).join("; ")}" unless run.valid?
            Marker.at(scale.call(run.rate), y, run.valid? ? 0 : 1, text, radius: 3.2, hollow: !run.valid?)
          end

          def runs(configuration)
            @view.runs(configuration, @load).select(&:rate)
          end

          def rate(configuration)
            @view.row(configuration, @load)&.rate
          end

          def ticks
            scale.ticks.map { |tick| [tick, Numbers.tick_count(tick)] }
          end

          def scale
            @scale ||= Scales::Linear.around(@view.configurations.flat_map { |each| runs(each).map(&:rate) }, ACROSS,
                                             zero: true)
          end
        end
      end
    end
  end
end
