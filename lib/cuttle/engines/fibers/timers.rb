# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # What is to happen when: a binary heap, the earliest on top. A cancelled timer stays until its time has come.
      #
      # The times are in an Array of their own, for a heap of a thousand sleepers is mostly comparisons of them.
      class Timers
        # What is called when its time has come.
        Timer = Struct.new(:action) do
          def cancel
            self.action = nil
          end
        end

        def initialize
          @times = []
          @timers = []
        end

        # +at+: seconds on the monotonic clock. Returns the Timer, which calls the block.
        def add(at, &action)
          timer = Timer.new(action)
          rise(@times.length, at, timer)
          timer
        end

        # The earliest timer's time; nil without any.
        def earliest
          @times.first
        end

        # Calls what was due at +now+, in order of time; no more than +limit+, if there is one.
        def fire(now, limit = nil)
          while limit != 0 && (at = @times.first) && at <= now
            next unless (action = shift.action)

            action.call
            limit -= 1 if limit
          end
        end

        private

        def shift
          first = @timers.first
          at = @times.pop
          last = @timers.pop
          rise(sink, at, last) unless @times.empty?
          first
        end

        # Moves the hole at the top down to where it has no children: what fills it comes from down there, and seldom has
        # far to rise again. Returns where that is.
        def sink
          times, timers, hole, child = @times, @timers, 0, 1
          while (time = times[child])
            if (other = times[child + 1]) && other < time
              child += 1
              time = other
            end
            times[hole] = time
            timers[hole] = timers[child]
            hole = child
            child = 2 * hole + 1
          end
          hole
        end

        def rise(hole, at, timer)
          while hole.positive? && at < @times[parent = (hole - 1) / 2]
            @times[hole] = @times[parent]
            @timers[hole] = @timers[parent]
            hole = parent
          end
          @times[hole] = at
          @timers[hole] = timer
        end
      end
    end
  end
end
