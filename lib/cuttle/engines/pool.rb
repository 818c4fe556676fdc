# frozen_string_literal: true

module Cuttle
  module Engines
    # The threads of an engine: between min and max threads (max 0: no limit). Each runs the same work until the work
    # returns. A thread that an app killed is replaced. If the system can't create a thread, #join tries again.
    #
    # Threads begin and end with interrupts masked (Thread#kill, Thread#raise, Timeout); only their work can be
    # interrupted. So a thread is always removed from the count, whenever it is killed. Inside the work no ensure block
    # is safe from interrupts. Cleanup for a dead thread therefore belongs in +left+, which is called with that thread,
    # masked and under a lock.
    class Pool
      # Seconds before the next attempt to create a thread.
      PAUSE = 0.1

      def initialize(range, left: nil, &work)
        @left = left
        @process = Process.pid
        @min = range.min
        @max = range.max.zero? ? Float::INFINITY : range.max
        @work = work
        @threads = {}.compare_by_identity
        @lock = Mutex.new
        @changed = ConditionVariable.new
        @short = false  # a thread is missing and comes later
        @scarce = false # the last attempt to create one failed
      end

      # Starts the first threads. Returns when all threads have ended.
      def run
        @lock.synchronize { @min.times { start } }
        join
      end

      # Returns when all threads have ended.
      def join
        @lock.synchronize do
          until @threads.empty? && !@short
            @changed.wait(@lock, @short ? PAUSE : nil)
            start if @short && @threads.length < @max
          end
        end
      end

      # Starts a thread, unless there are max threads. Returns whether it did. If the system can't create one (reported
      # once), another attempt follows later, except for a thread with a +task+, which is passed to the work.
      def grow(task = nil)
        @lock.synchronize { @threads.length < @max && start(task) }
      end

      # Whether the calling thread is above the minimum. If so, it is removed from the count at once, so that not all
      # threads end.
      def spare?
        @lock.synchronize { @threads.length > @min && @threads.delete(Thread.current) }
      end

      def size
        @threads.length
      end

      # Whether another thread may be started.
      def elastic?
        @threads.length < @max
      end

      private

      # Call this under the lock.
      def start(task = nil)
        thread = Thread.handle_interrupt(Object => :never) { Thread.new { run_thread(task) } }
        thread.name = "cuttle #{@threads.length + 1}"
        @threads[thread] = true
        @scarce = @short = false
        true
      rescue ThreadError => error
        report(error) unless @scarce
        @scarce = true
        @short = task.nil?
        @changed.signal
        false
      end

      def run_thread(task)
        Thread.handle_interrupt(Object => :immediate) { task ? @work.call(task) : @work.call }
        finished = true
      ensure
        task&.close
        @lock.synchronize { leave(finished || task) }
      end

      # A thread that ends before its work is done was killed, or is the only thread of a child that the app forked.
      # When the process ends, the main thread dies before the others.
      def leave(finished)
        @threads.delete(Thread.current)
        @left&.call(Thread.current)
        start unless finished || Process.pid != @process || !Thread.main.alive?
        @changed.signal
      end

      def report(error)
        Cuttle.report("can't create a thread (#{error.message}): continuing with #{size}, trying again later")
      end
    end
  end
end
