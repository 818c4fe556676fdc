# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Response times second by second under one load: a panel for each configuration, a line for each of its runs'
        # medians and p99s. Runs that are alike lie on each other; one that isn't is seen.
        class Timeline
          include Markup

          LINES = { "p50_ms" => "p50 of each run", "p99_ms" => "p99 of each run" }.freeze

          def initialize(view, load)
            @view = view
            @load = load
          end

          def to_html
            return if values.empty?

            Figure.grid(shown.map { |configuration| panel(configuration) })
          end

          private

          # Where a run has at least two seconds to show.
          def shown
            @shown ||= @view.originals.select { |each| windows(each).any? { |of_run| of_run.length > 1 } }
          end

          def panel(configuration)
            lines = LINES.keys.map.with_index do |key, slot|
              windows(configuration).map { |of_run| series(of_run, key, slot).line }
            end
            svg = frame.svg("Response times over time, #{@load.name}: #{configuration.name}",
                            description(configuration), *lines)
            Figure.of(configuration.name, svg, legend: LINES.values.each_with_index.map { |text, slot| [slot, text] })
          end

          def series(windows, key, slot)
            points = windows.map { |window| Series::Point.new(middle(window), positive(window[key])) }
            Series.new(points, slot: slot, x: x, y: y)
          end

          def description(configuration)
            of_all = windows(configuration).flatten
            spans = LINES.keys.map do |key|
              times = of_all.filter_map { |window| positive(window[key]) }.minmax
              "#{key.delete_suffix("_ms")} from #{times.map { |time| Numbers.milliseconds(time) }.join(" to ")}"
            end
            "#{Numbers.plural(windows(configuration).length, "run")}, second by second: #{spans.join(", ")}."
          end

          # Of each valid run, those that have an end: what came after it is no second.
          def windows(configuration)
            @windows ||= {}
            @windows[configuration.id] ||= @view.runs(configuration, @load).select(&:valid?).map do |run|
              (run.windows || []).select { |window| window["to"] && positive(window["p50_ms"]) }
            end
          end

          def middle(window)
            (window["from"] + window["to"]) / 2.0
          end

          def positive(time)
            time if time&.positive?
          end

          def values
            @values ||= all.flat_map { |window| LINES.keys.filter_map { |key| positive(window[key]) } }
          end

          def all
            shown.flat_map { |each| windows(each).flatten }
          end

          def frame
            @frame ||= Frame.new(x: x, y: y, x_label: "seconds",
                                 x_ticks: x.ticks.map { |tick| [tick, Numbers.short(tick)] },
                                 y_ticks: y.ticks.map { |tick| [tick, Numbers.tick_time(tick)] })
          end

          def x
            @x ||= Scales::Linear.new(0, all.map { |window| window["to"] }.max, Frame::ACROSS)
          end

          def y
            @y ||= Scales::Log.around(values, Frame::UP)
          end
        end
      end
    end
  end
end
