# frozen_string_literal: true

module Cuttle
  module Engines
    # The reactor's loop, run by N threads: whichever holds the GVL takes the next complete request and runs the app on
    # the spot. No queue and no hand-off; the poller passes the waiting on when an app blocks. While every thread is in
    # the app, a native thread goes on moving bytes, and other workers accept.
    #
    # With MIN:MAX threads, one is started whenever the last free one takes work, and one that was idle for a while ends.
    class Hybrid
      TRAITS = Traits.new(evented: true, pooled: true)

      # Seconds without work after which a thread beyond the minimum ends.
      IDLE = 30

      def self.source(listeners, **options)
        Poller.new(listeners, shared: true, **options)
      end

      def initialize(source:, service:, threads:, **)
        @source = source
        @service = service
        @pool = Pool.new(threads, &method(threads.min == threads.max ? :work : :work_elastically))
      end

      def run
        @pool.run
      end

      def stop
        @source.stop
      end

      def stats
        { threads: @pool.size, **@source.stats }
      end

      private

      # A thread that is killed with an exchange in its hands takes that along.
      def work
        while (exchange = @source.next)
          @service.call(exchange)
          exchange = nil
        end
      ensure
        exchange&.abort
      end

      def work_elastically
        until (exchange = @source.next(IDLE)).nil?
          if exchange
            @pool.grow if @source.starved? && @pool.elastic?
            @service.call(exchange)
            exchange = nil
          elsif @pool.spare?
            break
          end
        end
      ensure
        exchange.abort if exchange
      end
    end
  end
end
