# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # A figure of the table against concurrency: a panel for each group of configurations, with the others in grey
        # behind it. All panels have the same scale.
        class Against
          # name: the figure's name ("p99"). log: whether its axis is logarithmic. tick, value: methods of Numbers, for
          # the axis and for texts. unit: printed after a value. The block takes a row of the table and returns an
          # Estimate or nil.
          def initialize(view, sweep, name:, log:, tick:, value:, unit: "", &figure)
            @view = view
            @sweep = sweep
            @name = name
            @value = value
            @unit = unit
            @figure = figure
            @lines = view.originals.to_h { |configuration| [configuration, line(configuration)] }
            @chart = Charts::Lines.new(@lines.values, unit: sweep.unit, log: log, &Numbers.method(tick))
          end

          # Markup, or nil if there is nothing to draw.
          def to_html
            return if @sweep.loads.length < 2 || @chart.empty?

            Charts.grid(@view.groups.map { |group| panel(group.name, group.configurations) })
          end

          private

          def panel(name, configurations)
            @chart.panel(name, "#{@name} against #{@sweep.unit}: #{name}", description(configurations),
                         @lines.values_at(*configurations), behind: @lines.except(*configurations).values)
          end

          def line(configuration)
            Charts::Lines::Line.new(configuration.name, @sweep.loads.map { |load| point(configuration, load) })
          end

          def point(configuration, load)
            estimate = estimate(configuration, load)
            interval = Numbers.interval(estimate, @value)
            Charts::Series::Point.new(@view.amount(load), estimate&.value, estimate&.low, estimate&.high,
                                      "#{configuration.name}, #{load.name}: #{@name} #{text(estimate)}" \
                                      "#{" (#{interval})" if interval}")
          end

          def description(configurations)
            configurations.map do |configuration|
              figures = @sweep.loads.map { |load| "#{text(estimate(configuration, load))} at #{load.name}" }
              "#{configuration.name}: #{figures.join(", ")}."
            end.join(" ")
          end

          def text(estimate)
            "#{Numbers.public_send(@value, estimate&.value)}#{@unit}"
          end

          def estimate(configuration, load)
            row = @view.row(configuration, load)
            row && @figure.call(row)
          end
        end

        module_function

        # The charts of each sweep, with its name if there are several.
        def against(view, **options, &figure)
          drawn = view.sweeps.filter_map do |sweep|
            charts = Against.new(view, sweep, **options, &figure).to_html
            [sweep.name, charts] if charts
          end
          drawn.map { |name, charts| safe((tag(:h4, name) if drawn.length > 1), charts) }
        end

        register "throughput", "Throughput against concurrency", at: 50,
                 lead: "Responses per second: medians with 95% intervals. Each model has a panel, with the others " \
                       "in grey behind it. All panels have the same scale." do |view|
          against(view, name: "throughput", log: false, tick: :tick_count, value: :rate, unit: "/s", &:rate)
        end

        register "times", "Response times against concurrency", at: 60,
                 lead: "Medians of the runs' percentiles with 95% intervals. The time axis is logarithmic." do |view|
          drawn = %i[p50 p95 p99].to_h do |name|
            [name, against(view, name: name.to_s, log: true, tick: :tick_time, value: :milliseconds, &name)]
          end
          drawn.reject { |_, charts| charts.empty? }.map { |name, charts| [tag(:h3, name), charts] }
        end
      end
    end
  end
end
