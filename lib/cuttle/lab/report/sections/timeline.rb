# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Response times over time under one load: a panel for each configuration, with a line for the p50 and one for
        # the p99 of each run. Lines go from second to second; if runs are too short for that, from round to round.
        class Timeline
          LINES = { "p50" => "p50 of each run", "p99" => "p99 of each run" }.freeze

          def initialize(view, load)
            @view = view
            @load = load
            @runs = view.originals.to_h { |each| [each, view.runs(each, load).select(&:valid?)] }
            @lines = drawn.to_h { |each| [each, LINES.map { |name, words| line(words, curves(each, name)) }] }
          end

          # Markup, or nil if there is nothing to draw.
          def to_html
            Charts.grid(@lines.keys.map { |configuration| panel(configuration) }) if @lines.any?
          end

          private

          # A line needs two points. A short run may have too few responses for any.
          def drawn
            @runs.keys.select do |each|
              curves(each, "p50").any? { |curve| curve.count { |_, time| time } > 1 }
            end
          end

          def panel(configuration)
            chart.panel(configuration.name, "Response times over time, #{@load.name}: #{configuration.name}",
                        description(configuration), @lines[configuration])
          end

          # All panels have the same scale.
          def chart
            @chart ||= (seconds? ? Charts::Timeline : Charts::Lines)
                       .new(@lines.values.flatten, unit: unit, log: true, even: true, &Numbers.method(:tick_time))
          end

          # The curves of all runs, with a gap after each.
          def line(name, curves)
            points = curves.reject(&:empty?).flat_map do |curve|
              [*curve, [curve.last.first, nil]].map do |at, time|
                Charts::Series::Point.new(at, time, nil, nil, time && Numbers.milliseconds(time))
              end
            end
            Charts::Lines::Line.new(name, points)
          end

          def description(configuration)
            spans = LINES.keys.filter_map do |name|
              times = curves(configuration, name).flatten(1).filter_map(&:last).minmax
              "#{name} from #{times.map { |time| Numbers.milliseconds(time) }.join(" to ")}" if times.all?
            end
            "#{Units.plural(@runs[configuration].length, "run")}, by #{unit}: #{spans.join(", ")}."
          end

          def unit
            seconds? ? "second" : "round"
          end

          # [[[second or round, milliseconds or nil], …], …]
          def curves(configuration, name)
            runs = @runs[configuration]
            return runs.map { |run| by_second(run, name) } if seconds?

            [runs.sort_by(&:block).map { |run| [run.block + 1, positive(run.time(name))] }]
          end

          def by_second(run, name)
            seconds(run).map { |window| [(window["from"] + window["to"]) / 2.0, positive(window["#{name}_ms"])] }
          end

          def seconds?
            return @seconds if defined?(@seconds)

            @seconds = @runs.values.flatten.any? { |run| seconds(run).length > 1 }
          end

          def seconds(run)
            (run.windows || []).select { |window| positive(window["p50_ms"]) }
          end

          def positive(time)
            time if time&.positive?
          end
        end

        register "over-time", "Response times over time", at: 80,
                 lead: "The p50 is solid, the p99 dashed. A line is a run, second by second. If it rises or " \
                       "falls, the server was not warm yet. If it lies apart from the others, the start was bad. If " \
                       "runs are too short for that, a line goes from round to round." do |view|
          by_load(view) { |load| Timeline.new(view, load).to_html }
        end
      end
    end
  end
end
