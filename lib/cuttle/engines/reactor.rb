# frozen_string_literal: true

module Cuttle
  module Engines
    # One thread waits for all connections and runs the app in between. While the app runs, nothing else does.
    class Reactor
      TRAITS = Traits.new(evented: true)

      def self.source(listeners, core:, **options)
        core::Poller.new(listeners, **options)
      end

      def initialize(source:, service:, **)
        @source = source
        @service = service
      end

      def run
        while (exchange = @source.next)
          @service.call(exchange)
          exchange = nil
        end
      ensure
        exchange&.abort # the thread was killed while it had an exchange
      end

      def stop(leave_backlog: false)
        @source.stop(leave_backlog: leave_backlog)
      end

      def stats
        { threads: 1, **@source.stats }
      end
    end
  end
end
