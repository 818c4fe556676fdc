# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Every run under one load, by how far its rate is from its configuration's median: a dot each, hollow where the
        # run is not valid, and the median's interval as a line below. Dots of what is not valid may be off the scale:
        # they stay at its edge.
        class Dots < Rows
          LEAST = 0.01 # that the scale reaches to either side

          private

          def heading
            "Rates of all runs by their configuration's median, #{@load.name}"
          end

          def unit
            "from the configuration's median rate"
          end

          def items
            @items ||= @view.rows(@load).select { |row| row.rate&.value&.positive? }.map(&:configuration)
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
            x = Charts.at(scale.call(1))
            [(whisker(rate.low / rate.value, rate.high / rate.value, y, "s1") if Numbers.interval?(rate)),
             tag(:path, class: "median", d: "M#{x} #{y - 4}v8")]
          end

          def dot(run, configuration, y)
            text = "#{configuration.name}, round #{run.block + 1}: #{Numbers.rate(run.rate)}/s"
            text += ", not valid: #{(run.reasons || []).join("; ")}" unless run.valid?
            x = scale.call((run.rate / rate(configuration).value).clamp(scale.low, scale.high))
            Marker.at(x, y, run.valid? ? 0 : 1, text, radius: 3.2, hollow: !run.valid?)
          end

          def runs(configuration)
            @view.runs(configuration, @load).select(&:rate)
          end

          def rate(configuration)
            @view.row(configuration, @load)&.rate
          end

          def ticks
            scale.ticks.map { |tick| [tick, (tick - 1).abs < 1e-9 ? "median" : Numbers.change(tick)] }
          end

          # The median in the middle.
          def scale
            @scale ||= begin
              reach = [items.flat_map { |each| shares(each) }.map { |share| (share - 1).abs }.max, LEAST].max * 1.02
              Scales::Linear.new(1 - reach, 1 + reach, ACROSS)
            end
          end

          # Of valid runs, and of the ends of the interval, by the median.
          def shares(configuration)
            rate = rate(configuration)
            valid = runs(configuration).select(&:valid?).map(&:rate)
            ends = [rate.low, rate.high].compact
            Scales.with_intervals([rate.value, *valid], ends).map { |value| value / rate.value }
          end
        end
      end
    end
  end
end
