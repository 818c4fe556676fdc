# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # A figure against concurrency: a panel for each group of configurations, the others grey behind it, one scale
        # for all of them.
        class Against
          include Markup

          # name: what is drawn ("p99"). of: takes a row of the table, returns an Estimate or nil. log: the upright
          # axis. tick, value: methods of Numbers, for axes and for what is told. unit: after a value.
          def initialize(view, sweep, name:, log:, tick:, value:, unit: "", &of)
            @view = view
            @sweep = sweep
            @name = name
            @log = log
            @tick = tick
            @value = value
            @unit = unit
            @of = of
          end

          # Markup, or nil where there is nothing to draw.
          def to_html
            return if @sweep.loads.length < 2 || heights.empty?

            Figure.grid(@view.groups.map { |group| panel(group) })
          end

          private

          def panel(group)
            members = group.configurations
            drawn = members.map.with_index { |configuration, slot| series(configuration, slot) }
            svg = frame.svg("#{@name} against #{@sweep.unit}: #{group.name}", description(members),
                            others(members), *drawn.map(&:to_svg))
            Figure.of(group.name, svg, legend: members.map.with_index { |each, slot| [slot, each.name] })
          end

          def frame
            @frame ||= Frame.new(x: x, y: y, x_label: @sweep.unit,
                                 x_ticks: @sweep.amounts.map { |amount| [amount, Numbers.tick_count(amount)] },
                                 y_ticks: y.ticks.map { |tick| [tick, Numbers.public_send(@tick, tick)] })
          end

          def others(members)
            tag(:g, (@view.originals - members).map { |configuration| series(configuration, 0).background })
          end

          def series(configuration, slot)
            Series.new(points(configuration), slot: slot, x: x, y: y)
          end

          def points(configuration)
            @points ||= {}
            @points[configuration.id] ||= @sweep.loads.map { |load| point(configuration, load) }
          end

          def point(configuration, load)
            row = @view.row(configuration, load)
            estimate = row && @of.call(row)
            low, high = Numbers.interval?(estimate) ? [estimate.low, estimate.high] : nil
            Series::Point.new(@sweep.amount(load), estimate&.value, low, high,
                              "#{configuration.name}, #{load.name}: #{told(estimate)}")
          end

          def told(estimate)
            interval = Numbers.interval(estimate, @value)
            "#{@name} #{Numbers.public_send(@value, estimate&.value)}#{@unit}#{" (#{interval})" if interval}"
          end

          def description(members)
            members.map do |configuration|
              figures = @sweep.loads.map do |load|
                row = @view.row(configuration, load)
                "#{Numbers.public_send(@value, row && @of.call(row)&.value)}#{@unit} at #{load.name}"
              end
              "#{configuration.name}: #{figures.join(", ")}."
            end.join(" ")
          end

          def x
            @x ||= begin
              low, high = @sweep.amounts.minmax
              (high > 4 * low && low.positive? ? Scales::Log : Scales::Linear).new(low, high, Frame::ACROSS)
            end
          end

          def y
            @y ||= if @log then Scales::Log.around(heights, Frame::UP)
                   else Scales::Linear.around(heights, Frame::UP, zero: true)
                   end
          end

          # All that the scale has to hold.
          def heights
            @heights ||= begin
              points = @view.originals.flat_map { |configuration| points_of(configuration) }
              values = points.map(&:value)
              values = values.select(&:positive?) if @log
              ends = points.flat_map { |each| [each.low, each.high] }.compact
              values.empty? ? [] : Scales.with_intervals(values, ends)
            end
          end

          def points_of(configuration)
            @sweep.loads.filter_map { |load| (row = @view.row(configuration, load)) && @of.call(row) }
                        .select(&:value)
          end
        end
      end
    end
  end
end
