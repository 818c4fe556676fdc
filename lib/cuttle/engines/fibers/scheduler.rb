# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # Ruby's fiber scheduler interface (Fiber::Scheduler) on the engine's poller. A fiber that would block is
      # suspended. The engine's loop continues it when the event that it waits for has come. The hooks run in the
      # fibers, on the engine's thread. Only #unblock and #fiber_interrupt are called from other threads.
      #
      # A fiber that waits transfers control to the loop, which transfers it back. To yield would return to the fiber
      # that resumed it, and that may be one of the app's (see Strand). It passes the loop's fiber, as a sign that the
      # control doesn't come from a fiber that has ended.
      #
      # A child that the app forks has no loop. There the first hook removes the scheduler, and everything blocks.
      class Scheduler
        # Fibers that wait for one descriptor: [fiber, events] each.
        Wait = Struct.new(:fileno, :fibers)

        ANY = IO::READABLE | IO::WRITABLE

        # Made in the loop's fiber.
        def initialize(poller)
          @poller = poller
          @loop = Fiber.current
          @timers = Timers.new
          @waits = {}
          @paused = {}.compare_by_identity # fiber => whether it waits for #unblock
          @nested = {}.compare_by_identity # paused fiber that isn't its strand's first => its Strand
          @strand = nil # that runs
          @unblocked = Thread::Queue.new
          @thread = Thread.current
        end

        # Engine's side

        # Seconds until the loop must run timers or fibers; nil without a timer.
        def patience
          return 0 unless @unblocked.empty?

          at = @timers.earliest
          at && [at - now, 0].max
        end

        # Continues the fibers that other fibers and threads have unblocked, and those whose time has come: at most
        # +limit+ of the latter, nil for all. Skips an unblocked fiber that has already continued because its time was
        # over.
        def turn(limit = nil)
          continue_unblocked unless @unblocked.empty?
          return unless @timers.earliest

          @timers.fire(now, limit) do |fiber, exception|
            go(exception ? innermost(fiber) : fiber, false, exception)
          end
        end

        # The poller reported the descriptor of +wait+. Continues the fibers whose events came, and to watch for the
        # others. If the poller saw no event, the app has closed the descriptor without Ruby's knowledge, and its
        # number may belong to another file. Then all fibers continue and find out themselves.
        def ready(wait)
          seen = @poller.unwatch(wait.fileno)
          done, wait.fibers = wait.fibers.partition { |_, events| seen.zero? || events.anybits?(seen) }
          done.concat(renew(wait))
          done.each { |fiber, events| go(fiber, seen.zero? ? events : events & seen) if @paused.key?(fiber) }
        end

        # Continues a fiber: its wait returns +value+, or raises +exception+ (an argument of Fiber#raise, or several).
        # Returns when its strand waits, rests or has ended.
        #
        # An exception that ends a fiber comes out here, unless the app has resumed that fiber. It is never that of a
        # request, because its fiber handles exceptions itself. As with a thread, it ends only that fiber.
        def go(fiber, value = nil, exception = nil)
          @strand = @nested[fiber] || fiber
          came = exception ? fiber.raise(*exception) : fiber.transfer(value)
          came = @strand.transfer(came) until came.equal?(@loop) || settled?
        rescue Exception => error # rubocop:disable Lint/RescueException -- an engine outlives whatever an app raises
          raise if @poller.forked? || (error.is_a?(SignalException) && Thread.current.equal?(Thread.main))
          return go(@strand, nil, error) unless exception || settled?

          Cuttle.report("a fiber of the app's terminated with exception: #{error.full_message(highlight: false).chomp}")
        ensure
          @strand = nil
        end

        # Ruby's side (see Fiber::Scheduler in Ruby's documentation)

        # The fiber begins at once. When it waits or has ended, the caller continues at the loop's next turn.
        def fiber(&block)
          return Fiber.new(blocking: false, &block).tap(&:resume) if left_behind?

          strand = Strand.new(blocking: false, &block)
          go_on(Fiber.current, nil)
          pause(nil, true, strand)
          strand
        end

        def io_wait(io, events, timeout = nil)
          return select(io, events, timeout) if left_behind?

          fileno = io.fileno
          wait = @waits[fileno] ||= Wait.new(fileno, [])
          wait.fibers += [entry = [Fiber.current, events]]
          watch(wait) ? pause(timeout) : events
        ensure
          forget(wait, entry) if entry
        end

        # IO.select, which knows more than the poller: buffers, tied IOs, exceptional conditions. A blocking fiber asks
        # what is ready. If nothing is, a thread waits.
        def io_select(readable, writable = nil, exceptional = nil, timeout = nil)
          return IO.select(readable, writable, exceptional, timeout) if left_behind?

          ready = Fiber.new(blocking: true) { IO.select(readable, writable, exceptional, 0) }.resume
          ready || (in_thread { IO.select(readable, writable, exceptional, timeout) } unless timeout&.zero?)
        end

        # A ConditionVariable also waits through this hook, and is unblocked.
        def kernel_sleep(duration = nil)
          left_behind? ? sleep(*duration) : pause(duration, true)
          true
        end

        def block(_blocker, timeout = nil)
          return pause(timeout, true) unless left_behind?

          sleep(*timeout)
          true
        end

        def unblock(_blocker, fiber) = go_on(fiber, true)

        # The object that the fiber waits for was closed (Ruby 4.0 and newer).
        def fiber_interrupt(fiber, exception) = go_on(fiber, nil, exception)

        def timeout_after(duration, exception, message, &block)
          return Timeout.timeout(duration, exception, message, &block) if left_behind?

          timer = @timers.add(now + duration, @strand, [exception, message])
          yield duration
        ensure
          timer&.cancel
        end

        def process_wait(pid, flags)
          left_behind? ? Process::Status.wait(pid, flags) : in_thread { Process::Status.wait(pid, flags) }
        end

        def address_resolve(hostname)
          in_thread { Addrinfo.getaddrinfo(hostname, nil, nil, :STREAM).map(&:ip_address) }
        end

        # The engine ends when its connections have ended. Fibers that the app left behind end with the thread.
        def close
          @waits.each_key { |fileno| @poller.unwatch(fileno) } unless @poller.forked?
          @waits.clear
          @paused.clear
        end

        private

        # Whether this is a forked child. If so, it has no scheduler from now on.
        def left_behind?
          @poller.forked? && (Fiber.set_scheduler(nil) || true)
        end

        def select(io, events, timeout)
          readable = [io] if events.anybits?(IO::READABLE)
          writable = [io] if events.anybits?(IO::WRITABLE)
          found = IO.select(readable, writable, nil, timeout) or return false
          (found[0].empty? ? 0 : IO::READABLE) | (found[1].empty? ? 0 : IO::WRITABLE)
        end

        # Runs the block in a thread, for which the fiber waits. If an exception ends the wait, the thread ends too.
        def in_thread
          thread = Thread.new do
            Thread.current.report_on_exception = false # the fiber gets the exception
            yield
          end
          thread.value
        ensure
          thread&.kill
        end

        # Continues the fiber at the loop's next turn, which comes at once.
        def go_on(fiber, value, exception = nil)
          @unblocked << [fiber, value, exception]
          @poller.wake unless Thread.current.equal?(@thread)
        end

        def continue_unblocked
          @unblocked.length.times do
            fiber, value, exception = @unblocked.pop
            fiber = innermost(fiber) if exception
            go(fiber, value, exception) if @paused[fiber] || (exception && @paused.key?(fiber))
          end
        end

        # The fiber of a strand that waits, if one does: an exception for any of its fibers is raised there.
        def innermost(strand)
          @nested.key(strand) || strand
        end

        # Whether the strand that ran waits or has ended. It does neither if it had transferred control to another fiber
        # of the app, which ended. That one's value, or exception, is for the strand.
        def settled?
          !@strand.alive? || @paused.key?(innermost(@strand))
        end

        # Suspends the fiber until it continues, and begins the Strand +other+ meanwhile, if given. Returns false if the
        # time (seconds) is over first. @paused keeps a reference to the waiting fiber, because Ruby's queues and locks
        # don't mark the fibers that wait for them.
        def pause(seconds = nil, unblockable = false, other = nil)
          fiber = Fiber.current
          @nested[fiber] = @strand unless fiber.equal?(@strand)
          @paused[fiber] = unblockable
          timer = @timers.add(now + seconds, fiber) if seconds
          other ? (@strand = other).transfer : @loop.transfer(@loop)
        ensure
          timer&.cancel
          @nested.delete(fiber) unless @nested.empty?
          @paused.delete(fiber)
        end

        # Returns false for descriptors that epoll rejects. These are regular files, which are always ready.
        def watch(wait)
          @poller.watch(wait.fileno, wait.fibers.inject(0) { |events, (_, wanted)| events | wanted }, wait)
          true
        rescue Errno::EPERM
          false
        end

        # Continues to watch for the fibers that still wait. Returns those for which that is impossible.
        def renew(wait)
          return [] if !wait.fibers.empty? && watch(wait)

          drop(wait)
        rescue SystemCallError
          drop(wait)
        end

        def drop(wait)
          @waits.delete(wait.fileno)
          left, wait.fibers = wait.fibers, []
          left
        end

        # The fiber no longer waits, for whatever reason.
        def forget(wait, entry)
          return unless wait.fibers.reject! { |other| other.equal?(entry) }

          @poller.unwatch(wait.fileno) if wait.fibers.empty?
          renew(wait).each { |fiber, events| go_on(fiber, events) }
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
