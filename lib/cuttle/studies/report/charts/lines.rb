# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # One metric against how much is asked for: a panel with at most five lines.
        class Lines
          include Lab::Report::Markup

          CHARTS = Lab::Report::Charts
          MOST = 5
          # points: [level, value, low, high] each; low and high may be nil.
          Line = Struct.new(:name, :points)

          # unit: of the levels.
          def initialize(title, metric, unit, lines)
            @title = title
            @metric = metric
            @unit = unit
            @lines = lines.map { |line| Line.new(line.name, line.points.select { |_, value| value&.positive? }) }
                          .reject { |line| line.points.empty? }.first(MOST)
          end

          # Nil where there is nothing to draw.
          def to_html
            return if levels.length < 2

            svg = frame.svg("#{Figures.title(@metric)} against #{@unit}: #{@title}", description,
                            @lines.map.with_index { |line, slot| series(line, slot).to_svg })
            CHARTS::Figure.of("#{@title}: #{Figures.title(@metric)}", svg,
                                           legend: @lines.map.with_index { |line, slot| [slot, line.name] })
          end

          private

          def levels
            @levels ||= @lines.flat_map { |line| line.points.map(&:first) }.uniq.sort
          end

          def series(line, slot)
            points = line.points.map { |level, *numbers| point(line, level, *numbers) }
            CHARTS::Series.new(points, slot: slot, x: x, y: y)
          end

          def point(line, level, value, low = nil, high = nil)
            CHARTS::Series::Point.new(level, value, low, high, "#{line.name}, #{level} #{@unit}: #{text(value)}")
          end

          def description
            @lines.map do |line|
              "#{line.name}: #{line.points.map { |level, value| "#{text(value)} at #{level}" }.join(", ")}."
            end.join(" ")
          end

          def text(value)
            Figures.text(@metric, value)
          end

          def frame
            CHARTS::Frame.new(x: x, y: y, x_label: @unit,
                              x_ticks: levels.map { |level| [level, Lab::Report::Numbers.tick_count(level)] },
                              y_ticks: y.ticks.map { |tick| [tick, Values.tick(@metric, tick)] })
          end

          # Of equal ratios, but where one comes after the other.
          def x
            @x ||= begin
              low, high = levels.minmax
              ratios = levels.length < high && high > 4 * low && low.positive?
              (ratios ? CHARTS::Scales::Log : CHARTS::Scales::Linear).new(low, high, CHARTS::Frame::ACROSS)
            end
          end

          # From zero, but for times of several sizes.
          def y
            @y ||= begin
              all = CHARTS::Scales.with_intervals(values, ends)
              if several_sizes?
                CHARTS::Scales::Log.around(all, CHARTS::Frame::UP)
              else
                CHARTS::Scales::Linear.around(all, CHARTS::Frame::UP, zero: true)
              end
            end
          end

          def several_sizes?
            Metric.fetch(@metric).kind == :time && values.max > Values::WIDE * values.min
          end

          def values
            @values ||= @lines.flat_map { |line| line.points.map { |_, value| value } }
          end

          # Of intervals.
          def ends
            @lines.flat_map { |line| line.points.flat_map { |point| point.drop(2) } }.compact
          end
        end
      end
    end
  end
end
