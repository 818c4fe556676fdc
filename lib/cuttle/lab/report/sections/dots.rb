# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The rate of each run under one load, divided by the median rate of its configuration: a dot for each run and,
        # below, the interval of the median. The dot of an invalid run is hollow, and is drawn at the edge of the scale
        # if it lies beyond.
        class Dots < Charts::Rows
          LEAST = 0.01 # least extent of the scale on both sides

          def initialize(view, load)
            @view = view
            @load = load
            rows = view.rows(load).select { |row| row.rate&.value&.positive? }
            super("Rates of all runs, divided by the median of their configuration, #{load.name}",
                  "from the configuration's median rate",
                  rows.map { |row| Item.new(name: row.configuration.name, figure: figure(row), value: row) })
          end

          private

          def figure(row)
            invalid = runs(row).count { |run| !run.valid? }
            "#{"#{invalid} not valid, " if invalid.positive?}median #{Numbers.rate(row.rate.value)}"
          end

          def draw(item, y)
            row = item.value
            [median(row.rate, y + 6), runs(row).map { |run| dot(run, row, y - 1) }]
          end

          def median(rate, y)
            ratio = Statistics::Estimate.new(1, *[rate.low, rate.high].map { |bound| bound && (bound / rate.value) })
            [whisker(ratio, y, 0), tag(:path, class: "median", d: "M#{Charts.at(scale.call(1))} #{y - 4}v8")]
          end

          def dot(run, row, y)
            text = "#{row.configuration.name}, round #{run.block + 1}: #{Numbers.rate(run.rate)}/s"
            text += ", not valid: #{(run.reasons || []).join("; ")}" unless run.valid?
            x = scale.call((run.rate / row.rate.value).clamp(scale.low, scale.high))
            Charts::Marker.at(x, y, run.valid? ? 0 : 1, text, radius: 3.2, hollow: !run.valid?)
          end

          def runs(row)
            @view.runs(row.configuration, @load).select(&:rate)
          end

          def label(tick)
            (tick - 1).abs < 1e-9 ? "median" : Numbers.change(tick)
          end

          # The median is in the middle.
          def scale
            @scale ||= begin
              distances = @items.flat_map { |item| shares(item.value) }.map { |share| (share - 1).abs }
              reach = [*distances, LEAST].max * 1.02
              Charts::Scales::Linear.new(1 - reach, 1 + reach, ACROSS)
            end
          end

          # The valid runs and the ends of the interval, as shares of the median.
          def shares(row)
            rate = row.rate
            valid = runs(row).select(&:valid?).map(&:rate)
            held = Charts::Scales.with_intervals([rate.value, *valid], [rate.low, rate.high].compact)
            held.map { |value| value / rate.value }
          end
        end

        register "runs", "Every run", at: 100,
                 lead: "A circle is a run, one start of a server. It shows how far the rate is from the median of " \
                       "the configuration; the line below is the 95% interval of that median. Hollow squares are " \
                       "runs that are not valid; they don't count." do |view|
          grid(view) { |load| Dots.new(view, load).to_html(load.name) }
        end
      end
    end
  end
end
