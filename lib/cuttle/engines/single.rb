# frozen_string_literal: true

module Cuttle
  module Engines
    # Accepts a connection and serves it to its end, then accepts the next. Everything runs on the calling thread. Other
    # clients wait in the kernel's backlog.
    class Single
      TRAITS = Traits.new

      # An idle keep-alive connection gives way to a waiting connection after this many seconds.
      GRACE = 0.1

      def self.source(listeners, core:, **options)
        core::Acceptor.new(listeners, **options)
      end

      def initialize(source:, service:, **)
        @source = source
        @service = service
        @busy = 0
      end

      def run
        while (connection = @source.accept)
          serve(connection)
        end
      ensure
        connection&.close # the thread was killed while it had a connection
      end

      def stop(leave_backlog: false)
        @source.stop(leave_backlog: leave_backlog)
      end

      def stats
        { threads: 1, busy: @busy, **@source.stats }
      end

      private

      # After each response other clients get a turn: if another connection waits, a busy one is closed.
      def serve(connection)
        while (exchange = connection.next_request(GRACE))
          exchange.close_after if @source.waiting?
          @busy = 1
          @service.call(exchange)
          @busy = 0
        end
      ensure
        @busy = 0
        connection.close
      end
    end
  end
end
