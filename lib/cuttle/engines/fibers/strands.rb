# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # Decides which strand runs. A fiber that waits pauses its strand, and the engine's loop continues it: at once
      # (#go), or at the loop's next turn after #go_on was called or its time is over. The Scheduler knows what fibers
      # wait for.
      #
      # A fiber that waits transfers control to the loop, which transfers it back. Fiber.yield would return to the fiber
      # that resumed it, which may be a fiber of the app (see Strand). It passes the loop's fiber, as a sign that
      # control doesn't come from a fiber that has ended.
      #
      # Everything runs on the engine's thread. Only #unblock and #go_on are called from other threads.
      class Strands
        # The longest wait of the loop, in seconds, for a timer: not every poller waits for thousands of years.
        LOOK = 86_400

        # Made in the loop's fiber.
        def initialize(poller)
          @poller = poller
          @thread = Thread.current
          @loop = Fiber.current
          @timers = Timers.new
          @waits = 0
          @paused = {}.compare_by_identity # fiber => the number of its wait, below 0 if #unblock doesn't end that
          @nested = {}.compare_by_identity # paused fiber that isn't its strand's first => its Strand
          @strand = nil # that runs
          @unblocked = Thread::Queue.new
        end

        # The loop's side

        # Seconds until the loop must run timers or fibers, or should look again; nil without a timer.
        def patience
          return 0 unless @unblocked.empty?

          at = @timers.earliest
          at && (at - now).clamp(0, LOOK)
        end

        # Continues the fibers for which #go_on or #unblock was called, and those whose time has come: of the latter at
        # most +limit+, or all if it is nil.
        def turn(limit = nil)
          continue_unblocked unless @unblocked.empty?
          return unless @timers.earliest

          @timers.fire(now, limit) do |fiber, exception|
            go(exception ? innermost(fiber) : fiber, false, exception)
          end
        end

        # Continues a fiber: its wait returns +value+, or raises +exception+ (an argument of Fiber#raise, or several).
        # Returns when its strand waits, rests or has ended.
        #
        # An exception that ends a fiber comes out here, unless the app has resumed that fiber. It never comes from a
        # request, because a request's fiber handles exceptions itself. As with a thread, the exception ends only that
        # fiber.
        def go(fiber, value = nil, exception = nil)
          @strand = @nested[fiber] || fiber
          came = exception ? fiber.raise(*exception) : fiber.transfer(value)
          came = @strand.transfer(came) until came.equal?(@loop) || settled?
        rescue Exception => error # rubocop:disable Lint/RescueException -- an engine outlives whatever an app raises
          raise if @poller.forked? || (error.is_a?(SignalException) && Thread.current.equal?(Thread.main))
          return go(@strand, nil, error) unless settled? || (exception && fiber.equal?(@strand))

          Cuttle.report("a fiber of the app ended with an exception: #{error.full_message(highlight: false).chomp}")
        ensure
          @strand = nil
        end

        # Whether the fiber waits.
        def paused?(fiber) = @paused.key?(fiber)

        # The fibers' side

        # Suspends the fiber until it continues, and begins the Strand +other+ meanwhile, if given. Returns false if the
        # time (seconds) is over first. +unblockable+: #unblock continues it too. @paused keeps a reference to the
        # waiting fiber, because Ruby's queues and locks don't mark the fibers that wait for them.
        def pause(seconds = nil, unblockable = false, other = nil)
          fiber = Fiber.current
          @nested[fiber] = @strand unless fiber.equal?(@strand)
          @waits += 1
          @paused[fiber] = unblockable ? @waits : -@waits
          timer = @timers.add(due(seconds), fiber) if seconds
          other ? (@strand = other).transfer : @loop.transfer(@loop)
        ensure
          timer&.cancel
          @nested.delete(fiber) unless @nested.empty?
          @paused.delete(fiber)
        end

        # Continues the fiber as #go does, at the loop's next turn, which comes at once, if it is still in this +wait+.
        # For nil, any will do for an +exception+, otherwise one that #unblock ends. Any thread may call it.
        def go_on(fiber, value, exception = nil, wait = @paused[fiber])
          @unblocked << [fiber, value, exception, wait]
          @poller.wake unless Thread.current.equal?(@thread)
        end

        # What the fiber waits for has come. Ruby may say so too late: the wait is over because its time was, and the
        # fiber waits for something else. Any thread may call it.
        def unblock(fiber)
          wait = @paused[fiber]
          go_on(fiber, true, nil, wait) unless wait&.negative?
        end

        # In so many seconds, raises +exception+ where the strand that runs now waits then. Returns the timer, which can
        # be cancelled.
        def raise_in(seconds, exception) = @timers.add(due(seconds), @strand, exception)

        # Forgets the fibers that wait.
        def close = @paused.clear

        private

        def continue_unblocked
          @unblocked.length.times do
            fiber, value, exception, wait = @unblocked.pop
            fiber = innermost(fiber) if wait.nil? && exception
            go(fiber, value, exception) if in_wait?(fiber, wait, any: exception)
          end
        end

        # Whether the fiber is in the wait of that number; for nil, in +any+, or in one that #unblock ends.
        def in_wait?(fiber, wait, any:)
          present = @paused[fiber]
          wait ? present == wait : present && (any || present.positive?)
        end

        # The fiber of the strand that waits, if one does. An exception for any fiber of the strand is raised there.
        def innermost(strand) = @nested.key(strand) || strand

        # Whether the strand that ran waits or has ended. Neither is so if it transferred control to another fiber of
        # the app, and that fiber ended. Then the value, or the exception, of that fiber is for the strand.
        def settled?
          !@strand.alive? || @paused.key?(innermost(@strand))
        end

        # The time in so many seconds. Raises FloatDomainError for NaN, which is neither before nor after another time.
        def due(seconds)
          at = now + seconds.to_f
          at.nan? ? raise(FloatDomainError, "NaN") : at
        end

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
