# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      module Html
        # The page's charts: each second's rate and response times, and the percentile curve.
        module Graphs
          Charts = Report::Charts
          Numbers = Report::Numbers
          Scales = Report::Charts::Scales
          Frame = Report::Charts::Frame
          LINES = { "p50" => 50, "p99" => 99 }.freeze
          NAMED = [50, 90, 99, 99.9].freeze # percentiles with a mark

          module_function

          # Of at least two whole seconds: fewer make no line.
          def over_time(result)
            seconds = result.windows.select(&:whole?)
            Charts.grid([rates(seconds), times(result, seconds)].compact) if seconds.length > 1
          end

          def rates(seconds)
            lines = { "responses/s" => seconds.map(&:rate) }
            lines["good responses/s"] = seconds.map(&:good_rate) if seconds.any? { |each| each.good < each.responses }
            scale = Scales::Linear.around(lines.values.flatten, Frame::UP, zero: true)
            draw("Rate", seconds, lines, scale, Numbers.method(:tick_count)) { |rate| "#{Numbers.rate(rate)}/s" }
          end

          def times(result, seconds)
            histograms = seconds.map(&:histogram)
            lines = LINES.transform_values do |percentile|
              histograms.map { |each| milliseconds(result.percentile(percentile, each)) }
            end
            known = lines.values.flatten.compact.select(&:positive?)
            return if lines.values.none? { |values| values.compact.length > 1 }

            scale = Scales::Log.around(known, Frame::UP)
            draw("Response times", seconds, lines, scale, Numbers.method(:tick_time), &Numbers.method(:milliseconds))
          end

          # lines: { name => values by second }. The block makes the text of a value.
          def draw(title, seconds, lines, scale, label, &text)
            lines = lines.select { |_, values| values.compact.length > 1 }
            across = Scales::Linear.new(0, seconds.last.to.ceil, Frame::ACROSS)
            ticks = across.ticks.map { |second| [second, Numbers.short(second)] }
            frame = Frame.new(x: across, y: scale, unit: "second", x_ticks: ticks, &label)
            series = lines.values.map.with_index { |values, slot| frame.series(points(seconds, values), slot).line }
            frame.figure(title, "#{title} over time", "By second: #{spans(lines, &text)}.", lines.keys, *series)
          end

          def spans(lines, &text)
            lines.map { |name, values| "#{name} from #{values.compact.minmax.map(&text).join(" to ")}" }.join(", ")
          end

          # In the middle of each second.
          def points(seconds, values)
            seconds.zip(values).map { |second, value| Charts::Series::Point.new((second.from + second.to) / 2, value) }
          end

          def percentiles(result)
            curves = { "response" => result.latency }
            curves["service"] = result.service if result.open?
            curves = curves.transform_values { |histogram| curve(histogram) }.reject { |_, curve| curve.length < 2 }
            Charts.grid([curve_figure(curves)]) if curves.any?
          end

          def curve(histogram)
            times = Histograms.curve(histogram).transform_values { |time| milliseconds(time) }
            times.select { |_, time| time.positive? }
          end

          def curve_figure(curves)
            across = Scales::Nines.new(0, curves.values.flat_map(&:keys).max, Frame::ACROSS)
            up = Scales::Log.around(curves.values.flat_map(&:values), Frame::UP)
            ticks = across.ticks.map { |tick| [tick, tick.zero? ? "least" : "p#{tick}"] }
            frame = Frame.new(x: across, y: up, unit: "percentile", x_ticks: ticks, &Numbers.method(:tick_time))
            lines = curves.values.map.with_index do |curve, slot|
              frame.series(curve.map { |percentile, time| Charts::Series::Point.new(percentile, time) }, slot).line
            end
            marks = curves.map.with_index { |(name, curve), slot| marks(name, curve, slot, across, up) }
            frame.figure("Times by percentile", "Times by percentile", description(curves), curves.keys, lines, marks)
          end

          def marks(name, curve, slot, across, up)
            curve.slice(*NAMED).map do |percentile, time|
              Charts::Marker.at(across.call(percentile), up.call(time), slot, "#{name} #{named(percentile, time)}")
            end
          end

          def description(curves)
            curves.map do |name, curve|
              "#{name}: #{curve.slice(*NAMED).map { |each| named(*each) }.join(", ")}."
            end.join(" ")
          end

          def named(percentile, time)
            "p#{percentile} #{Numbers.milliseconds(time)}"
          end

          def milliseconds(nanoseconds)
            nanoseconds && (nanoseconds / 1e6)
          end
        end
      end
    end
  end
end
