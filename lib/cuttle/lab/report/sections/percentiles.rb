# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Response times by percentile under one load, all valid runs together: a panel for each group of
        # configurations, with the others in grey behind it. A curve ends where fewer than ten values lie beyond:
        # further out it would show chance.
        class Percentiles
          NAMED = [50, 90, 99, 99.9].freeze # those with a mark

          def initialize(view, load)
            @view = view
            @load = load
            @curves = view.originals.to_h { |configuration| [configuration, curve(configuration)] }
          end

          # Markup, or nil if there is nothing to draw.
          def to_html
            Charts.grid(@view.groups.filter_map { |group| panel(group) }) if times.any?
          end

          private

          def panel(group)
            drawn = @curves.slice(*group.configurations).reject { |_, curve| curve.empty? }
            return if drawn.empty?

            series = drawn.values.map.with_index { |curve, slot| frame.series(points(curve), slot).line }
            marks = drawn.map.with_index { |(configuration, curve), slot| marks(configuration.name, curve, slot) }
            frame.figure(group.name, "Response times by percentile, #{@load.name}: #{group.name}", description(drawn),
                         drawn.keys.map(&:name), behind(drawn.keys), series, marks)
          end

          def behind(configurations)
            frame.background(@curves.except(*configurations).values.map { |curve| points(curve) })
          end

          def points(curve)
            curve.map { |percentile, time| Charts::Series::Point.new(percentile, time) }
          end

          def marks(name, curve, slot)
            curve.slice(*NAMED).map do |percentile, time|
              Charts::Marker.at(x.call(percentile), y.call(time), slot, "#{name}: #{text(percentile, time)}")
            end
          end

          def description(drawn)
            drawn.map do |configuration, curve|
              "#{configuration.name}: #{curve.slice(*NAMED).map { |each| text(*each) }.join(", ")}."
            end.join(" ")
          end

          def text(percentile, time)
            "p#{percentile} #{Numbers.milliseconds(time)}"
          end

          # { percentile => milliseconds }
          def curve(configuration)
            runs = @view.runs(configuration, @load).select(&:valid?)
            histogram = Load::Histograms.sum(runs.filter_map(&:histogram))
            Load::Histograms.curve(histogram).transform_values { |nanoseconds| nanoseconds / 1e6 }
          end

          def times
            @times ||= @curves.values.flat_map(&:values).select(&:positive?)
          end

          def frame
            ticks = x.ticks.map { |tick| [tick, tick.zero? ? "least" : "p#{tick}"] }
            @frame ||= Charts::Frame.new(x: x, y: y, unit: "percentile", x_ticks: ticks, &Numbers.method(:tick_time))
          end

          def x
            @x ||= Charts::Scales::Nines.new(0, @curves.values.flat_map(&:keys).max, Charts::Frame::ACROSS)
          end

          def y
            @y ||= Charts::Scales::Log.around(times, Charts::Frame::UP)
          end
        end

        register "percentiles", "Percentile curves", at: 70,
                 lead: "Response times of all valid runs together. A curve ends where fewer than ten values lie " \
                       "beyond it." do |view|
          by_load(view) { |load| Percentiles.new(view, load).to_html }
        end
      end
    end
  end
end
