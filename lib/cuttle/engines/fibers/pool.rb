# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # The fibers that run the app. A fiber serves one request after the other, because a new fiber for each would cost
      # more than most requests. The pool doesn't hold a fiber that waits in the app; Strands continues it.
      #
      # Fiber-locals stay from request to request, as thread-locals do in an engine with threads. Fiber storage
      # (Fiber[], Ruby 3.2) doesn't: a request's changes to it are undone. It would be simpler to end the fiber, but
      # Ruby may keep the stack of a fiber that ends after a transfer until the next garbage collection.
      #
      # Runs on the engine's thread.
      class Pool
        # After this many requests, fibers that none of these requests needed end.
        ROUND = 1024

        STORAGE = Fiber.method_defined?(:storage)

        # The block serves an exchange. Call it in the loop's fiber.
        def initialize(strands, &work)
          @strands = strands
          @work = work
          @loop = Fiber.current
          @idle = []
          @waiting = {}.compare_by_identity # fiber => its exchange, if it waits in the app
          @handed = nil # an exchange for the fiber that continues next; false ends that fiber
          @storage = Fiber.current.storage if STORAGE # new fibers inherit it
          @runs = 0
          @surplus = 0 # the fewest idle fibers in this round
        end

        # Serves +exchange+ in a fiber. Returns when that is done, or when the app waits. Raises FiberError if there is
        # no memory for another fiber; then nothing has happened.
        def run(exchange)
          trim if (@runs += 1) >= ROUND
          fiber = idle_fiber
          idle = @idle.length
          @handed = exchange
          @strands.go(fiber)
          @waiting[fiber] = exchange if idle == @idle.length && fiber.alive?
        ensure
          @handed = nil
        end

        # Whether a fiber waits in the app, other than on a socket that the app has taken over.
        def busy? = @waiting.any? { |_, exchange| !exchange.given_away? }

        private

        # An app that kept a fiber may have ended it.
        def idle_fiber
          Strand.new(blocking: false) { live }.transfer if @idle.empty?
          fiber = @idle.pop
          return idle_fiber unless fiber.alive?

          @surplus = @idle.length if @idle.length < @surplus
          fiber
        end

        def live
          fiber = Fiber.current
          while (exchange = rest(fiber))
            @work.call(exchange)
            exchange = nil
            clean(fiber) if STORAGE
          end
        ensure
          @waiting.delete(fiber)
        end

        # Returns when there is an exchange to take. An app that kept the fiber may transfer control to it too.
        def rest(fiber)
          @waiting.delete(fiber) unless @waiting.empty?
          @idle << fiber
          @loop.transfer(@loop) while @handed.nil?
          exchange = @handed
          @handed = nil
          exchange
        end

        # Gives the fiber the storage that new ones have.
        def clean(fiber)
          storage = fiber.storage
          return if storage == @storage

          inherited = @storage.to_h
          (storage.to_h.keys | inherited.keys).each { |key| Fiber[key] = inherited[key] }
        end

        def trim
          @surplus.times do
            fiber = @idle.shift
            next unless fiber.alive?

            @handed = false
            @strands.go(fiber)
          end
          @runs = 0
          @surplus = @idle.length
        end
      end
    end
  end
end
