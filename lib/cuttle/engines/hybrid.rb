# frozen_string_literal: true

module Cuttle
  module Engines
    # The reactor's loop, run by N threads. The thread that holds the GVL takes the next complete request and runs the
    # app at once. There is no queue and no hand-off; when an app blocks, the poller passes the waiting role on. While
    # every thread is in the app, a native thread continues to move bytes, and other workers accept.
    #
    # With MIN:MAX threads, another thread starts whenever the last free one takes work, and a thread that has been idle
    # for a while ends. With Auto, a thread of the engine's own starts others when the source says that they would help.
    class Hybrid
      TRAITS = Traits.new(evented: true, pooled: true, adaptive: true)

      # A thread beyond the minimum ends after this many seconds without work.
      IDLE = 30

      # Seconds before the next attempt after no thread could be added because of the limit, memory or the system.
      PAUSE = 1

      def self.source(listeners, core:, **options)
        core::Poller.new(listeners, shared: true, **options)
      end

      def initialize(source:, service:, threads:, **)
        @source = source
        @service = service
        @auto = threads if threads.is_a?(Auto)
        @pool = Pool.new(threads, &method(threads.min == threads.max ? :work : :work_elastically))
      end

      def run
        grower = growth if @auto && @auto.min < @auto.max
        @pool.run
      ensure
        grower&.kill&.join
      end

      def stop(leave_backlog: false)
        @source.stop(leave_backlog: leave_backlog)
      end

      def stats
        { threads: @pool.size, **@source.stats }
      end

      private

      # If a thread is killed while it has an exchange, the exchange is aborted.
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
            @pool.grow unless @auto || !@source.starved? || !@pool.elastic?
            @service.call(exchange)
            exchange = nil
          elsif @pool.spare?
            break
          end
        end
      ensure
        exchange.abort if exchange
      end

      # Nil without a thread of its own: then the system has no more threads for requests either.
      def growth
        Thread.new { grow_as_it_helps }.tap { |thread| thread.name = "cuttle growth" }
      rescue ThreadError => error
        Cuttle.report("--threads auto: can't create a thread (#{error.message}): no threads will be added")
        nil
      end

      def grow_as_it_helps
        grown = true
        loop do
          @source.await_shortage(grown ? 0 : PAUSE, @auto.cores)
          grown = @auto.room? && @pool.grow
        rescue StandardError => error
          grown = Cuttle.report("--threads auto: no thread was added: #{error.message} (#{error.class})")
        end
      end
    end
  end
end
