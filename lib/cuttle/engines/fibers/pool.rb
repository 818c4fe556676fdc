# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # The fibers that run the app. A fiber serves one request after the other, because a new fiber for each would cost
      # more than most requests. One that waits in the app is in nobody's hands until the scheduler resumes it.
      #
      # Fiber-locals stay from request to request, as thread-locals do in an engine with threads. Fiber storage
      # (Fiber[], Ruby 3.2) doesn't: a fiber whose request changed it ends with that request.
      #
      # Runs on the engine's thread.
      class Pool
        # After so many requests, the fibers that all of them could have done without end.
        ROUND = 1024

        STORAGE = Fiber.method_defined?(:storage)

        # The block serves an exchange.
        def initialize(&work)
          @work = work
          @idle = []
          @handed = nil # an exchange for the fiber that is resumed next; false ends that fiber
          @storage = Fiber.current.storage if STORAGE # new fibers inherit it
          @runs = 0
          @surplus = 0 # the fewest idle fibers in this round
        end

        # Serves +exchange+ in a fiber. Returns when that is done, or when the app waits. Raises FiberError if there is
        # no memory for another fiber; then nothing has happened.
        def run(exchange)
          trim if (@runs += 1) >= ROUND
          fiber = idle_fiber
          @handed = exchange
          (fiber || Fiber.new(blocking: false) { live }).resume
        ensure
          @handed = nil
        end

        private

        # An app that kept a fiber may have ended it.
        def idle_fiber
          fiber = @idle.pop
          fiber = @idle.pop until fiber.nil? || fiber.alive?
          @surplus = @idle.length if @idle.length < @surplus
          fiber
        end

        def live
          while (exchange = take)
            @work.call(exchange)
            exchange = nil
            break if stained?

            rest
          end
        end

        def take
          exchange = @handed
          @handed = nil
          exchange
        end

        # Returns when there is something to take. An app that kept the fiber may resume it too.
        def rest
          @idle << Fiber.current
          Fiber.yield while @handed.nil?
        end

        def stained?
          STORAGE && Fiber.current.storage != @storage
        end

        def trim
          @surplus.times do
            fiber = @idle.shift
            @handed = false
            fiber.resume if fiber.alive?
          end
          @runs = 0
          @surplus = @idle.length
        end
      end
    end
  end
end
