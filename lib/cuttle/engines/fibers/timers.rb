# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # The timers: a binary heap with the earliest on top. A cancelled timer stays in the heap until its time has come.
      #
      # The times are in a separate Array, because a heap of a thousand sleepers spends most of its time comparing them.
      class Timers
        # The +fiber+ to continue at that time, with the exception to raise in it, or nil to resume it.
        Timer = Struct.new(:fiber, :exception) do
          def cancel
            self.fiber = nil
          end
        end

        def initialize
          @times = []
          @timers = []
        end

        # +at+: seconds on the monotonic clock. Returns the Timer.
        def add(at, fiber, exception = nil)
          timer = Timer.new(fiber, exception)
          rise(@times.length, at, timer)
          timer
        end

        # The time of the earliest timer; nil without timers.
        def earliest
          @times.first
        end

        # Yields fiber and exception of the timers that are due at +now+, in order of time, and at most +limit+ of them
        # if it is given.
        def fire(now, limit = nil)
          while limit != 0 && (at = @times.first) && at <= now
            timer = shift
            next unless (fiber = timer.fiber)

            yield fiber, timer.exception
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

        # Moves the hole at the top down to a place without children, and returns that place. The element that fills it
        # comes from the bottom, so it seldom rises far.
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
