# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Lines against an amount, such as response times against connections. All panels have the same scale.
      class Lines
        # points: an Array of Series::Point.
        Line = Struct.new(:name, :points)

        # lines: those of all panels. unit: the unit of the amounts. log: whether the vertical axis is logarithmic.
        # even: whether the horizontal axis is linear even over a wide range. The block makes the label of a value.
        def initialize(lines, unit:, log:, even: false, &label)
          @points = lines.flat_map(&:points)
          @unit = unit
          @log = log
          @even = even
          @label = label
        end

        # Whether there is nothing to draw.
        def empty?
          values.empty?
        end

        # A figure with some of the lines. behind: lines to draw in grey behind them, or nil.
        def panel(caption, title, description, lines, behind: nil)
          series = lines.map.with_index { |line, slot| draw(line, slot) }
          frame.figure(caption, title, description, lines.map(&:name),
                       (frame.background(behind.map(&:points)) if behind), *series)
        end

        private

        def draw(line, slot)
          frame.series(line.points, slot).to_svg
        end

        def frame
          @frame ||= begin
            ends = @points.flat_map { |point| [point.low, point.high] }.compact
            Frame.new(x: across, y: Scales.around(values, ends, Frame::UP, log: @log), unit: @unit,
                      x_ticks: ticks, &@label)
          end
        end

        def across
          @across ||= begin
            low, high = amounts.minmax
            wide = high > 4 * low && low.positive?
            (wide && !@even ? Scales::Log : Scales::Linear).new(low, high, Frame::ACROSS)
          end
        end

        # [[amount, label]] of the horizontal axis.
        def ticks
          amounts.map { |amount| [amount, Numbers.tick_count(amount)] }
        end

        def amounts
          @amounts ||= @points.map(&:x).uniq.sort
        end

        def values
          @values ||= @points.filter_map(&:y).select { |value| !@log || value.positive? }
        end
      end
    end
  end
end
