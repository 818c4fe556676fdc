# frozen_string_literal: true

module Cuttle
  module Engines
    # Evented I/O, and each request in a fiber of its own: what would block in the app (sleep, sockets, DNS, Process.wait,
    # locks, queues) lets the other fibers go on instead, through Ruby's fiber scheduler interface. One thread runs all.
    # With max_fibers requests in the app, no more are taken or accepted.
    class Fibers
      autoload :Scheduler, "cuttle/engines/fibers/scheduler"
      autoload :Timers, "cuttle/engines/fibers/timers"

      TRAITS = Traits.new(evented: true, fibers: true)

      def self.source(listeners, **options)
        Poller.new(listeners, **options)
      end

      def initialize(source:, service:, max_fibers:, **)
        @source = source
        @service = service
        @max = max_fibers
        @fibers = 0
      end

      # Runs in a thread of its own where the caller's has a scheduler already.
      def run
        return Thread.new { run }.value if Fiber.scheduler

        Fiber.set_scheduler(@scheduler = Scheduler.new(@source))
        work
      ensure
        Fiber.set_scheduler(nil) if @scheduler && Fiber.scheduler.equal?(@scheduler)
      end

      def stop
        @source.stop
      end

      def stats
        { threads: 1, fibers: @fibers, **@source.stats }
      end

      private

      # What has come in and what is due take turns, or those who slept would all be served before those who just came.
      # After the stop it goes on until every exchange is over, whoever feeds it.
      def work
        until (found = @source.next(@scheduler.patience, @max - @fibers)).nil?
          case found
          when Exchange then start(found)
          when Scheduler::Wait then @scheduler.ready(found)
          end
          @scheduler.turn(found ? 1 : nil)
        end
      end

      def start(exchange)
        @fibers += 1
        Fiber.new(blocking: false) { serve(exchange) }.resume
      rescue FiberError => error # the system has no memory for a fiber more: this one gets the engine's
        warn "#{error.message}: a request is served without a fiber of its own"
        serve(exchange)
      end

      def serve(exchange)
        @service.call(exchange)
      ensure
        @fibers -= 1
      end
    end
  end
end
