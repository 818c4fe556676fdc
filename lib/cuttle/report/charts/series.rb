# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Points of one series, in one colour, dash and shape. Law: a line never crosses a missing value.
      class Series
        include Markup

        # y, low and high may be nil. text: a description of the point.
        Point = Struct.new(:x, :y, :low, :high, :text)

        CAP = 3 # half the width of the bar at the end of an interval

        # x, y: scales. slot: from 0.
        def initialize(points, slot:, x:, y:)
          @points = points
          @slot = slot
          @x = x
          @y = y
        end

        def to_svg
          safe(line, intervals, markers)
        end

        # Only the line, in grey, behind the lines of another panel.
        def background
          path("background")
        end

        def line
          path("line s#{@slot + 1}")
        end

        def markers
          @points.select(&:y).map { |point| Marker.at(*place(point), @slot, point.text) }
        end

        private

        def path(style)
          data = runs.map { |run| "M#{Charts.points(run.map { |point| place(point) })}" }.join
          tag(:path, class: style, d: data) unless data.empty?
        end

        # The sequences of points without gaps.
        def runs
          @points.chunk_while { |one, other| one.y && other.y }.map { |piece| piece.select(&:y) }.reject(&:empty?)
        end

        def place(point)
          [@x.call(point.x), @y.call(point.y)]
        end

        def intervals
          data = @points.select { |point| point.y && point.low && point.high }.map { |point| whisker(point) }.join
          tag(:path, class: "whisker s#{@slot + 1}", d: data) unless data.empty?
        end

        def whisker(point)
          x = @x.call(point.x)
          left = Charts.at(x - CAP)
          low, high = [point.low, point.high].map { |value| Charts.at(@y.within(value)) }
          "M#{left} #{low}h#{2 * CAP}M#{Charts.at(x)} #{low}V#{high}M#{left} #{high}h#{2 * CAP}"
        end
      end
    end
  end
end
