# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Lines against seconds, from zero. Points are close together, so they have no marks.
      class Timeline < Lines
        private

        def draw(line, slot)
          frame.series(line.points, slot).line
        end

        def across
          @across ||= Scales::Linear.new(0, amounts.last.ceil, Frame::ACROSS)
        end

        def ticks
          across.ticks.map { |second| [second, Numbers.short(second)] }
        end
      end
    end
  end
end
