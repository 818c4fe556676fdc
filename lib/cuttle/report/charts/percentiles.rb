# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Times by percentile, on a logarithmic scale. Some percentiles have a mark.
      class Percentiles < Lines
        NAMED = [50, 90, 99, 99.9].freeze # the percentiles with a mark

        # The line for a curve, { percentile => nanoseconds }.
        def self.line(name, curve)
          points = curve.select { |_, time| time.positive? }.map do |percentile, time|
            Series::Point.new(percentile, time / 1e6, nil, nil, "p#{percentile} #{Units.time(time)}")
          end
          Line.new(name, points)
        end

        # lines: those of all panels.
        def initialize(lines)
          super(lines, unit: "percentile", log: true, &Numbers.method(:tick_time))
        end

        # A panel whose description includes the marked times.
        def described(caption, title, lines, behind: nil)
          description = lines.map { |line| "#{line.name}: #{named(line).map(&:text).join(", ")}." }.join(" ")
          panel(caption, title, description, lines, behind: behind)
        end

        private

        def draw(line, slot)
          marks = named(line).map { |each| Series::Point.new(each.x, each.y, nil, nil, "#{line.name}: #{each.text}") }
          [frame.series(line.points, slot).line, frame.series(marks, slot).markers]
        end

        def named(line)
          line.points.select { |point| NAMED.include?(point.x) }
        end

        def across
          @across ||= Scales::Nines.new(0, amounts.last, Frame::ACROSS)
        end

        def ticks
          across.ticks.map { |tick| [tick, tick.zero? ? "least" : "p#{tick}"] }
        end
      end
    end
  end
end
