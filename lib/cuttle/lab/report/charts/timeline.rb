# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Response times over time under one load: a panel for each configuration. Where runs last several seconds,
        # second by second, a line for each run's medians and one for its p99s: runs that are alike lie on each other,
        # one that isn't is seen. Where they don't, from round to round.
        class Timeline
          include Markup

          LINES = { "p50" => "p50 of each run", "p99" => "p99 of each run" }.freeze

          def initialize(view, load)
            @view = view
            @load = load
          end

          def to_html
            Figure.grid(shown.map { |configuration| panel(configuration) }) if shown.any?
          end

          private

          # A line takes two times, and a short run may have too few responses for any.
          def shown
            @shown ||= @view.originals.select do |each|
              curves(each, "p50").any? { |curve| curve.count { |_, time| time } > 1 }
            end
          end

          def panel(configuration)
            lines = LINES.keys.map.with_index do |name, slot|
              curves(configuration, name).map { |curve| drawn(series(curve, slot)) }
            end
            svg = frame.svg("Response times over time, #{@load.name}: #{configuration.name}",
                            description(configuration), *lines)
            Figure.of(configuration.name, svg, legend: LINES.values.each_with_index.map { |text, slot| [slot, text] })
          end

          # Seconds lie close together, and have no marks of their own.
          def drawn(series)
            seconds? ? series.line : series.to_svg
          end

          def series(curve, slot)
            points = curve.map { |at, time| Series::Point.new(at, time, nil, nil, time && Numbers.milliseconds(time)) }
            Series.new(points, slot: slot, x: x, y: y)
          end

          def description(configuration)
            spans = LINES.keys.filter_map do |name|
              times = curves(configuration, name).flatten(1).filter_map(&:last).minmax
              "#{name} from #{times.map { |time| Numbers.milliseconds(time) }.join(" to ")}" if times.all?
            end
            "#{Numbers.plural(runs(configuration).length, "run")}, by #{unit}: #{spans.join(", ")}."
          end

          def unit
            seconds? ? "second" : "round"
          end

          # [[[second or round, milliseconds or nil], …], …]
          def curves(configuration, name)
            return runs(configuration).map { |run| by_second(run, name) } if seconds?

            [runs(configuration).sort_by(&:block).map { |run| [run.block + 1, positive(run.time(name))] }]
          end

          def by_second(run, name)
            seconds(run).map { |window| [(window["from"] + window["to"]) / 2.0, positive(window["#{name}_ms"])] }
          end

          def seconds?
            return @seconds if defined?(@seconds)

            @seconds = @view.originals.any? { |each| runs(each).any? { |run| seconds(run).length > 1 } }
          end

          def seconds(run)
            (run.windows || []).select { |window| positive(window["p50_ms"]) }
          end

          def runs(configuration)
            @view.runs(configuration, @load).select(&:valid?)
          end

          def positive(time)
            time if time&.positive?
          end

          # All points of all panels.
          def points
            @points ||= shown.product(LINES.keys).flat_map { |each, name| curves(each, name).flatten(1) }
          end

          def frame
            @frame ||= Frame.new(x: x, y: y, x_label: unit, x_ticks: x_ticks.map { |tick| [tick, Numbers.short(tick)] },
                                 y_ticks: y.ticks.map { |tick| [tick, Numbers.tick_time(tick)] })
          end

          # Rounds are whole.
          def x_ticks
            x.ticks.select { |tick| seconds? || tick == tick.to_i }
          end

          def x
            @x ||= Scales::Linear.new(seconds? ? 0 : 1, points.map(&:first).max.ceil, Frame::ACROSS)
          end

          def y
            @y ||= Scales::Log.around(points.filter_map(&:last), Frame::UP)
          end
        end
      end
    end
  end
end
