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
        @pool = Pool.new(threads, &method(@pooled ? :work : :serve))
        @turn = Mutex.new
        @lock = Mutex.new
        @free = 0
        @busy = 0
      end

      def run
        @pooled ? @pool.run : accept_for_each
      end

      def stop
        @source.stop
      end

      def stats
        { threads: @pool.size, busy: @busy, **@source.stats }
      end

      private

      def accept_for_each
        while (connection = @source.accept)
          @pool.grow(connection)
        end
        @pool.join
      end

      # Takes connections by turns; the pool grows when its last free thread takes one.
      def work
        while (connection = await_turn)
          @pool.grow if @free.zero? && @pool.elastic?
          serve(connection)
        end
      end

      def await_turn
        count_free(1)
        @turn.synchronize { @source.accept }
      ensure
        count_free(-1)
      end

      def count_free(change)
        @lock.synchronize { @free += change }
      end

      def serve(connection)
        while (exchange = connection.next_request(crowded? ? GRACE : nil))
          exchange.close_after if crowded? && @source.waiting?
          answer(exchange)
        end
      ensure
        connection.close
      end

      # No connection may keep its thread while others wait for one.
      def crowded?
        @pooled && @free.zero?
      end

      def answer(exchange)
        @lock.synchronize { @busy += 1 }
        @service.call(exchange)
      ensure
        @lock.synchronize { @busy -= 1 }
      end
    end
  end
end
