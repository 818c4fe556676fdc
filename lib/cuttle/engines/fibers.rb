# frozen_string_literal: true

require "cuttle/engines/fibers/pool"
require "cuttle/engines/fibers/scheduler"
require "cuttle/engines/fibers/strand"
require "cuttle/engines/fibers/strands"
require "cuttle/engines/fibers/timers"
require "cuttle/engines/fibers/watches"

module Cuttle
  module Engines
    # Evented I/O, and each request in a fiber. When the app would block (sleep, sockets, DNS, Process.wait, locks,
    # queues), the other fibers run, through Ruby's fiber scheduler interface. One thread runs everything. While
    # max_fibers requests are in the app, the engine neither takes nor accepts more.
    class Fibers
      TRAITS = Traits.new(evented: true, fibers: true)

      # The longest time in seconds between two checks of what fibers wait for, once all connections have ended.
      LOOK = 0.01

      # Why this Ruby can't run the engine; nil if it can.
      def self.unavailable
        return if Fiber.respond_to?(:set_scheduler)

        "needs a fiber scheduler, which #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION} lacks: take another --engine"
      end

      def self.source(listeners, core:, **options)
        core::Poller.new(listeners, **options)
      end

      def initialize(source:, service:, max_fibers:, **)
        @source = source
        @service = service
        @max = max_fibers
        @fibers = 0 # that have a request
        @serve = lambda do |exchange|
          @service.call(exchange)
        ensure
          @fibers -= 1
        end
      end

      # Runs in a new thread if the caller's thread already has a scheduler, or if its current fiber is not its first.
      # The loop must be in the fiber to which Ruby returns when other fibers end.
      def run
        return Thread.new { run }.value if Fiber.scheduler || !Fiber.current.blocking?

        use_up_warning
        @strands = Strands.new(@source)
        @watches = Watches.new(@source, @strands)
        Fiber.set_scheduler(@scheduler = Scheduler.new(@source, @strands, @watches))
        @pool = Pool.new(@strands, &@serve)
        work
        work_off unless @source.forked?
      ensure
        Fiber.set_scheduler(nil) if @scheduler && Fiber.scheduler.equal?(@scheduler)
      end

      def stop(leave_backlog: false)
        @source.stop(leave_backlog: leave_backlog)
      end

      def stats
        { threads: 1, fibers: @fibers, **@source.stats }
      end

      private

      # Ruby 4 warns once that IO::Buffer is experimental, at the first I/O of any fiber. An operator can't act on that,
      # so Ruby says it while warnings of this kind are off.
      def use_up_warning
        before = Warning[:experimental]
        Warning[:experimental] = false
        IO::Buffer.new(1).free
      ensure
        Warning[:experimental] = before
      end

      # New requests and fibers that waited take turns; for descriptors the source sees to that. Otherwise all fibers
      # that slept would run before new requests, or none while requests come. After the stop, the loop continues until
      # every exchange is over, whatever keeps it open.
      def work
        until (found = @source.next(@strands.patience, @max - @fibers)).nil?
          case found
          when false then nil
          when Watches::Wait then @watches.ready(found)
          else start(found)
          end
          @strands.turn(found ? 1 : nil)
        end
      end

      # All connections have ended. What follows the responses (the close of a body, callbacks, the log) may still wait.
      # A fiber that serves a socket of the app's own may never end.
      def work_off
        while @pool.busy?
          found = @source.next(0)
          @watches.ready(found) if found
          @strands.turn
          sleep([@strands.patience || LOOK, LOOK].min)
        end
      end

      def start(exchange)
        @fibers += 1
        @pool.run(exchange)
      rescue FiberError => error # no memory for another fiber: serve on the engine's own
        Cuttle.report("#{error.message}: a request is served without a fiber of its own")
        @serve.call(exchange)
      end
    end
  end
end
