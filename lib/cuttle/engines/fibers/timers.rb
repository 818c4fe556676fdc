# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # What is to happen when: a binary heap, the earliest on top. A cancelled timer stays until its time has come.
      class Timers
        # +at+ is in seconds on the monotonic clock; +action+ is called when it has come.
        Timer = Struct.new(:at, :action) do
          def cancel
            self.action = nil
          end
        end

        def initialize
          @heap = []
        end

        # Returns the Timer.
        def add(at, &action)
          timer = Timer.new(at, action)
          rise(@heap.length, timer)
          timer
        end

        # The earliest timer's time; nil without any.
        def earliest
          @heap.first&.at
        end

        # Calls what was due at +now+, in order of time; no more than +limit+, if there is one.
        def fire(now, limit = nil)
          while limit != 0 && (timer = @heap.first) && timer.at <= now
            remove_first
            next unless (action = timer.action)

            action.call
            limit -= 1 if limit
          end
        end

        private

        def rise(index, timer)
          while index.positive? && timer.at < @heap[parent = (index - 1) / 2].at
            @heap[index] = @heap[parent]
            index = parent
          end
          @heap[index] = timer
        end

        def remove_first
          last = @heap.pop
          sink(last) unless @heap.empty?
        end

        def sink(timer)
          index = 0
          while (child = 2 * index + 1) < @heap.length
            child += 1 if child + 1 < @heap.length && @heap[child + 1].at < @heap[child].at
            break if timer.at <= @heap[child].at

            @heap[index] = @heap[child]
            index = child
          end
          @heap[index] = timer
        end
      end
    end
  end
end
