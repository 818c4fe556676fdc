# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      module Html
        # The page's charts: each second's rate and response times, and the percentile curves.
        module Graphs
          Charts = Report::Charts
          Numbers = Report::Numbers
          LINES = { "p50" => 50, "p99" => 99 }.freeze

          module_function

          # Charts over the whole seconds.
          def over_time(result)
            seconds = result.windows.select(&:whole?)
            figures = [rates(seconds), times(result, seconds)].compact
            Charts.grid(figures) if figures.any?
          end

          def rates(seconds)
            lines = { "responses/s" => seconds.map(&:rate) }
            lines["good responses/s"] = seconds.map(&:good_rate) if seconds.any? { |each| each.good < each.responses }
            figure("Rate", seconds, lines, log: false, tick: :tick_count) { |rate| "#{Numbers.rate(rate)}/s" }
          end

          def times(result, seconds)
            lines = LINES.transform_values do |percentile|
              seconds.map { |each| result.percentile(percentile, each.histogram)&.fdiv(1e6) }
            end
            figure("Response times", seconds, lines, log: true, tick: :tick_time, &Numbers.method(:milliseconds))
          end

          # values: { name => values by second }. Nil if no name has two values, which a line needs. The block formats a
          # value.
          def figure(title, seconds, values, log:, tick:, &text)
            values = values.select { |_, each| each.compact.length > 1 }
            return if values.empty?

            lines = values.map { |name, each| Charts::Lines::Line.new(name, points(seconds, each)) }
            spans = values.map { |name, each| "#{name} from #{each.compact.minmax.map(&text).join(" to ")}" }
            Charts::Timeline.new(lines, unit: "second", log: log, &Numbers.method(tick))
                            .panel(title, "#{title} over time", "By second: #{spans.join(", ")}.", lines)
          end

          # Points are in the middle of each second.
          def points(seconds, values)
            seconds.zip(values).map { |second, value| Charts::Series::Point.new((second.from + second.to) / 2, value) }
          end

          # Curves of response times and, in an open loop, service times.
          def percentiles(result)
            curves = { "response" => result.latency, "service" => (result.service if result.open?) }.compact
            lines = curves.map { |name, histogram| Charts::Percentiles.line(name, Histograms.curve(histogram)) }
            lines = lines.select { |line| line.points.length > 1 }
            title = "Times by percentile"
            Charts.grid([Charts::Percentiles.new(lines).described(title, title, lines)]) if lines.any?
          end
        end

        register("over-time", "Over time", at: 20) { |result| Graphs.over_time(result) }
        register("percentiles", "Percentiles", at: 30) { |result| Graphs.percentiles(result) }
      end
    end
  end
end
