# frozen_string_literal: true

module Cuttle
  module Engines
    # A thread serves a connection to its end, with blocking I/O. The thread comes from a pool of MIN to MAX, or (0) is
    # new for each connection. In a pool, one free thread at a time waits to accept, and the others queue for their
    # turn.
    class Threads
      TRAITS = Traits.new(pooled: true, thread_per_connection: true)

      # In a pool, an idle keep-alive connection gives its thread to a waiting connection after this many seconds.
      GRACE = 0.1

      # Threads, not a count of them, so that a killed one can be removed. Any thread may change it.
      class Crew
        def initialize
          @threads = {}.compare_by_identity
          @lock = Mutex.new
        end

        def add(thread)
          @lock.synchronize { @threads[thread] = true }
        end

        def delete(thread)
          @lock.synchronize { @threads.delete(thread) }
        end

        def size
          @threads.size
        end
      end
      private_constant :Crew

      def self.source(listeners, core:, **options)
        core::Acceptor.new(listeners, **options)
      end

      def initialize(source:, service:, threads:, **)
        @source = source
        @service = service
        @pooled = threads.max.positive?
        @pool = Pool.new(threads, left: method(:forget), &method(@pooled ? :work : :serve))
        @turn = Mutex.new
        @taken = Crew.new # those that have a connection
        @busy = Crew.new  # those that are in the app
      end

      def run
        @pooled ? @pool.run : accept_for_each
      end

      def stop(leave_backlog: false)
        @source.stop(leave_backlog: leave_backlog)
      end

      def stats
        { threads: @pool.size, busy: @busy.size, **@source.stats }
      end

      private

      def accept_for_each
        while (connection = @source.accept)
          hand_over(connection)
          connection = nil
        end
        @pool.join
      ensure
        connection&.close # the thread was killed while it had a connection
      end

      # Gives the connection a new thread, once the system can create one. If no other thread runs that could end, the
      # calling thread serves the connection.
      def hand_over(connection)
        until @pool.grow(connection)
          return serve(connection, last: true) if @pool.size.zero?

          sleep Pool::PAUSE
        end
      end

      # Threads take connections in turn. The pool grows when its last free thread takes a connection.
      def work
        while (connection = await_turn { |accepted| connection = accepted })
          @pool.grow if crowded? && @pool.elastic?
          serve(connection)
        end
      ensure
        connection&.close
      end

      # Yields the connection to the caller at once, because the thread may be killed before this method returns.
      def await_turn
        @taken.delete(Thread.current)
        @turn.synchronize { yield @source.accept }
      ensure
        @taken.add(Thread.current)
      end

      # Serves a connection to its end. With +last+, it serves one request only.
      def serve(connection, last: false)
        while (exchange = connection.next_request(last || crowded? ? GRACE : nil))
          exchange.close_after if last || (crowded? && @source.waiting?)
          answer(exchange)
        end
      ensure
        connection.close
      end

      # No connection may keep its thread while other connections wait for one. A thread that has just been created is
      # free, although it does not queue for its turn yet.
      def crowded?
        @pooled && @taken.size >= @pool.size
      end

      def answer(exchange)
        @busy.add(Thread.current)
        @service.call(exchange)
      ensure
        @busy.delete(Thread.current)
      end

      # A killed thread has no connection and is not busy, wherever it was.
      def forget(thread)
        @taken.delete(thread)
        @busy.delete(thread)
      end
    end
  end
end
