# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # Response times by percentile under one load, all valid runs together: a panel for each group, the others grey
        # behind it. A curve ends where fewer than ENOUGH values lie beyond, for there it is chance.
        class Percentiles
          include Markup

          DRAWN = [*(0..85).step(5), 87.5, 90, 92, 94, 95, 96, 97, 98, 98.5, 99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.93,
                   99.95, 99.97, 99.98, 99.99].freeze
          TOLD = [50, 90, 99, 99.9].freeze

          def initialize(view, load)
            @view = view
            @load = load
          end

          def to_html
            return if values.empty?

            Figure.grid(@view.groups.filter_map { |group| panel(group) })
          end

          private

          def panel(group)
            members = group.configurations.select { |each| curve(each).any? }
            return if members.empty?

            lines = members.map.with_index { |each, slot| series(each, slot).line }
            svg = frame.svg("Response times by percentile, #{@load.name}: #{group.name}",
                            members.map { |each| description(each) }.join(" "), others(members), lines,
                            members.map.with_index { |each, slot| landmarks(each, slot) })
            Figure.of(group.name, svg, legend: members.map.with_index { |each, slot| [slot, each.name] })
          end

          def others(members)
            tag(:g, (@view.originals - members).map { |each| series(each, 0).background })
          end

          def landmarks(configuration, slot)
            curve(configuration).slice(*TOLD).map do |percentile, time|
              Marker.at(x.call(percentile), y.call(time), slot, told(configuration, percentile))
            end
          end

          def told(configuration, percentile)
            "#{configuration.name}: p#{percentile} #{Numbers.milliseconds(curve(configuration)[percentile])}"
          end

          def description(configuration)
            figures = TOLD.filter_map do |percentile|
              time = curve(configuration)[percentile]
              "p#{percentile} #{Numbers.milliseconds(time)}" if time
            end
            "#{configuration.name}: #{figures.join(", ")}."
          end

          def series(configuration, slot)
            points = curve(configuration).map { |percentile, time| Series::Point.new(percentile, time) }
            Series.new(points, slot: slot, x: x, y: y)
          end

          # { percentile => milliseconds }
          def curve(configuration)
            @curves ||= {}
            @curves[configuration.id] ||= measure(pooled(configuration))
          end

          def pooled(configuration)
            Load::Histograms.sum(@view.runs(configuration, @load).select(&:valid?).map(&:histogram).compact)
          end

          def measure(histogram)
            drawn = DRAWN.select do |percentile|
              percentile <= 50 || histogram.count * (100 - percentile) / 100.0 >= Load::Result::ENOUGH
            end
            histogram.count.zero? ? {} : drawn.to_h { |percentile| [percentile, histogram.value_at(percentile) / 1e6] }
          end

          def values
            @values ||= @view.originals.flat_map { |each| curve(each).values }.select(&:positive?)
          end

          def frame
            @frame ||= Frame.new(x: x, y: y, x_label: "percentile",
                                 x_ticks: x.ticks.map { |tick| [tick, tick.zero? ? "least" : "p#{tick}"] },
                                 y_ticks: y.ticks.map { |tick| [tick, Numbers.tick_time(tick)] })
          end

          def x
            @x ||= Scales::Nines.new(0, @view.originals.filter_map { |each| curve(each).keys.max }.max, Frame::ACROSS)
          end

          def y
            @y ||= Scales::Log.around(values, Frame::UP)
          end
        end
      end
    end
  end
end
