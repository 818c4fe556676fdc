# frozen_string_literal: true

module Cuttle
  module Engines
    # A thread serves a connection to its end, with blocking I/O: one from a pool of MIN to MAX, or (0) a new one each.
    # In a pool one free thread at a time waits to accept; the others queue behind it for their turn.
    class Threads
      TRAITS = Traits.new(pooled: true, thread_per_connection: true)

      # In a pool, an idle connection that is kept alive lets one that waits have its thread after this many seconds.
      GRACE = 0.1

      def self.source(listeners, **options)
        Acceptor.new(listeners, **options)
      end

      def initialize(source:, service:, threads:, **)
        @source = source
        @service = service
        @pooled = threads.max.positive?
        @pool = Pool.new(threads, left: method(:forget), &method(@pooled ? :work : :serve))
        @turn = Mutex.new
        @free = {}.compare_by_identity # threads, not numbers: one that was killed is taken out again
        @busy = {}.compare_by_identity
      end

      def run
        @pooled ? @pool.run : accept_for_each
      end

      def stop
        @source.stop
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
        connection&.close # the thread was killed with it in its hands
      end

      # To a thread of its own, once the system has one to give; where none runs that could end, this one serves.
      def hand_over(connection)
        until @pool.grow(connection)
          return serve(connection, last: true) if @pool.size.zero?

          sleep Pool::PAUSE
        end
      end

      # Takes connections by turns; the pool grows when its last free thread takes one.
      def work
        while (connection = await_turn { |accepted| connection = accepted })
          @pool.grow if @free.empty? && @pool.elastic?
          serve(connection)
        end
      ensure
        connection&.close
      end

      # Yields the connection to the caller at once, for it may be killed on its way there.
      def await_turn
        @free[Thread.current] = true
        @turn.synchronize { yield @source.accept }
      ensure
        @free.delete(Thread.current)
      end

      # Serves a connection to its end; a +last+ request is all that it has.
      def serve(connection, last: false)
        while (exchange = connection.next_request(last || crowded? ? GRACE : nil))
          exchange.close_after if last || (crowded? && @source.waiting?)
          answer(exchange)
        end
      ensure
        connection.close
      end

      # No connection may keep its thread while others wait for one.
      def crowded?
        @pooled && @free.empty?
      end

      def answer(exchange)
        @busy[Thread.current] = true
        @service.call(exchange)
      ensure
        @busy.delete(Thread.current)
      end

      # Wherever a thread was when it was killed, it is neither free nor busy any more.
      def forget(thread)
        @free.delete(thread)
        @busy.delete(thread)
      end
    end
  end
end
