# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The cores, and how fast processes compute on them. Up to the number of cores, each process has a core, and the
      # processes slow each other down by sharing caches, memory and hyper-threads. More processes share the cores
      # evenly, and lose time at each change of process.
      class Machine
        attr_reader :cores

        # scaling, sharing: as in a Profile: [[processes that compute at once, speed of each], …], and how many times
        # as much CPU time a request takes with more processes than cores; or nil.
        def initialize(cores, scaling, sharing = nil)
          @cores = cores
          @sharing = sharing || 1.0
          @points = [[1, 1.0], *(scaling || [])].to_h.sort
          @speeds = []
        end

        # The speed of each of +count+ computing processes; 1.0 for one alone.
        def speed(count)
          @speeds[count] ||= count > cores ? alone(cores) * cores / count / @sharing : alone(count)
        end

        # The computing seconds of all cores in one second.
        def power
          cores * speed(cores)
        end

        private

        # Interpolates between two measurements. Beyond the last one, it uses Gunther's law of contention through the
        # last measurement: 1 / (1 + a (n - 1)).
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
