# frozen_string_literal: true

module Cuttle
  module Engines
    # The threads of an engine: between min and max of them (max 0: as many as are started), each running the same work
    # until that returns. One that an app killed is replaced.
    class Pool
      def initialize(range, &work)
        @min = range.min
        @max = range.max.zero? ? Float::INFINITY : range.max
        @work = work
        @threads = {}
        @lock = Mutex.new
        @ended = Queue.new
      end

      # Starts the first threads, and returns when all have ended.
      def run
        @min.times { grow }
        join
      end

      # Returns when all threads have ended.
      def join
        until size.zero?
          thread, finished = @ended.pop
          @lock.synchronize { @threads.delete(thread) }
          grow unless finished
        end
      end

      # Starts a thread, unless there are max; +arguments+ go to the work.
      def grow(*arguments)
        @lock.synchronize do
          return if @threads.length >= @max

          thread = Thread.new { work(arguments) }
          thread.name = "cuttle #{@threads.length + 1}"
          @threads[thread] = true
        end
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

      def work(arguments)
        @work.call(*arguments)
        finished = true
      ensure
        @ended << [Thread.current, finished]
      end
    end
  end
end
