# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The cores, and how fast processes compute on them: so many at once have a core each, and slow each other down by
      # what they share (caches, memory, hyper-threads); more of them share the cores evenly.
      class Machine
        attr_reader :cores

        # scaling: as in a Profile: [[processes that compute at once, speed of each], …], or nil.
        def initialize(cores, scaling)
          @cores = cores
          @points = [[1, 1.0], *(scaling || [])].to_h.sort
          @speeds = []
        end

        # How fast each of +count+ computes, 1.0 alone.
        def speed(count)
          @speeds[count] ||= count > cores ? alone(cores) * cores / count : alone(count)
        end

        # What all cores compute in a second.
        def power
          cores * speed(cores)
        end

        private

        # Between two measurements a straight line; beyond the last one Gunther's law of contention through that one,
        # 1 / (1 + a (n - 1)).
        def alone(count)
          above = @points.index { |number, _| number >= count }
          return beyond(count, *@points.last) unless above
          return @points[above].last if above.zero?

          (low, slow), (high, fast) = @points[above - 1, 2]
          slow + ((fast - slow) * (count - low) / (high - low).to_f)
        end

        def beyond(count, number, speed)
          return speed if number < 2

          1 / (1 + ((1 / speed - 1) / (number - 1) * (count - 1)))
        end
      end
    end
  end
end
