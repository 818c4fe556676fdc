# frozen_string_literal: true

module Cuttle
  module Engines
    # The threads of an engine: between min and max of them (max 0: as many as are started), each running the same work
    # until that returns. One that an app killed is replaced. Where the system gives no thread, #join tries again.
    #
    # Threads begin and end with interrupts masked (Thread#kill, Thread#raise, Timeout), and only their work takes
    # any: whenever they are killed, they are counted out. In the work itself no ensure is safe from them; what has to
    # be done for a thread that is gone is the business of +left+, which is called with it, masked and under a lock.
    class Pool
      # Seconds before it asks again for a thread that it could not have.
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
        @short = false  # a thread is missing, and comes later
        @scarce = false # the last try for one failed
      end

      # Starts the first threads, and returns when all have ended.
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

      # Starts a thread, unless there are max. Returns whether there is one more: where the system has none to give
      # (which is said once), one comes later. A thread for a +task+ alone, which its work is given, comes now or never.
      def grow(task = nil)
        @lock.synchronize { @threads.length < @max && start(task) }
      end

      # Whether the calling thread is one too many now; if so, it is counted out at once, so that not all go.
      def spare?
        @lock.synchronize { @threads.length > @min && @threads.delete(Thread.current) }
      end

      def size
        @threads.length
      end

      # Whether a thread more may be started.
      def elastic?
        @threads.length < @max
      end

      private

      # Under the lock.
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

      # One that goes before its work is done was killed, or is the one that lives in a child that the app forked.
      def leave(finished)
        @threads.delete(Thread.current)
        @left&.call(Thread.current)
        start unless finished || Process.pid != @process
        @changed.signal
      end

      def report(error)
        warn "cuttle: no thread to be had (#{error.message}): #{size} go on, and more come when they can"
      end
    end
  end
end
