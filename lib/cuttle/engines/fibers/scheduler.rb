# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # Ruby's fiber scheduler interface (Fiber::Scheduler), on the engine's poller: a fiber that would block is left,
      # and resumed by the engine's loop when what it waits for has come. The hooks run in the fibers, on the engine's
      # thread; only #unblock and #fiber_interrupt are called from other threads.
      class Scheduler
        # Fibers that wait for one descriptor: [fiber, events] each.
        Wait = Struct.new(:fileno, :fibers)

        def initialize(poller)
          @poller = poller
          @timers = Timers.new
          @waits = {}
          @unblocked = Thread::Queue.new
          @thread = Thread.current
        end

        # Engine's side

        # Seconds until the loop must turn; nil without a timer.
        def patience
          return 0 unless @unblocked.empty?

          at = @timers.earliest
          at && [at - now, 0].max
        end

        # Resumes whom other fibers and threads have let go on, and whose time has come: +limit+ of those, nil for all.
        def turn(limit = nil)
          @unblocked.length.times do
            fiber, verb, argument = @unblocked.pop
            fiber.public_send(verb, argument) if fiber.alive?
          end
          @timers.fire(now, limit) if @timers.earliest
        end

        # The descriptor of +wait+ was reported: resumes those whose events it has, and watches on for the others.
        def ready(wait)
          seen = @poller.unwatch(wait.fileno)
          done, rest = wait.fibers.partition { |_, events| (events & seen).positive? }
          rest.empty? ? @waits.delete(wait.fileno) : watch(wait, rest)
          done.each { |fiber, events| resume(fiber, events & seen) }
        end

        # Ruby's side (see Fiber::Scheduler in Ruby's documentation)

        def fiber(&block)
          Fiber.new(blocking: false, &block).tap(&:resume)
        end

        def io_wait(io, events, timeout = nil)
          entry = [Fiber.current, events]
          fileno = io.fileno
          wait = @waits[fileno] ||= Wait.new(fileno, [])
          watch(wait, wait.fibers + [entry]) ? with_timer(timeout) { Fiber.yield } : events
        ensure
          forget(wait, entry) if wait
        end

        def kernel_sleep(duration = nil)
          block(:sleep, duration)
          true
        end

        def block(_blocker, timeout = nil)
          with_timer(timeout) { Fiber.yield }
        end

        def unblock(_blocker, fiber) = go_on(fiber, :resume, true)

        # What the fiber waits for was closed (Ruby 4.0 and newer).
        def fiber_interrupt(fiber, exception) = go_on(fiber, :raise, exception)

        def timeout_after(duration, exception, message)
          fiber = Fiber.current
          timer = @timers.add(now + duration) { fiber.raise(exception, message) if fiber.alive? }
          yield duration
        ensure
          timer&.cancel
        end

        # A thread waits for the child; the fiber waits for the thread.
        def process_wait(pid, flags)
          Thread.new { Process::Status.wait(pid, flags) }.value
        end

        def address_resolve(hostname)
          Thread.new { Addrinfo.getaddrinfo(hostname, nil, nil, :STREAM).map(&:ip_address) }.value
        end

        # The engine ends when its connections have; fibers that the app left behind end with the thread.
        def close
          @waits.each_key { |fileno| @poller.unwatch(fileno) }
          @waits.clear
        end

        private

        # At the loop's next turn, which comes at once.
        def go_on(fiber, verb, argument)
          @unblocked << [fiber, verb, argument]
          @poller.wake unless Thread.current.equal?(@thread)
        end

        # Runs a block that yields the fiber; false where the time (seconds) is over before something else resumes it.
        def with_timer(seconds)
          return yield unless seconds

          fiber = Fiber.current
          timer = @timers.add(now + seconds) { resume(fiber, false) }
          yield
        ensure
          timer&.cancel
        end

        # Returns false for what epoll doesn't take, regular files: they are always ready.
        def watch(wait, fibers)
          wait.fibers = fibers
          @poller.watch(wait.fileno, fibers.inject(0) { |events, (_, wanted)| events | wanted }, wait)
          true
        rescue Errno::EPERM
          false
        end

        # The fiber waits no more, whatever the reason.
        def forget(wait, entry)
          return unless wait.fibers.delete_if { |other| other.equal?(entry) } && @waits[wait.fileno].equal?(wait)
          return watch(wait, wait.fibers) unless wait.fibers.empty?

          @waits.delete(wait.fileno)
          @poller.unwatch(wait.fileno)
        end

        def resume(fiber, value)
          fiber.resume(value) if fiber.alive?
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
