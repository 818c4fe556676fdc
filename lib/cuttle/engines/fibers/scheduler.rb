# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # Ruby's fiber scheduler interface (Fiber::Scheduler; Ruby's documentation describes each hook) on the engine's
      # poller. It knows what a fiber waits for: a fiber that would block watches a descriptor (Watches), sets a timer
      # or starts a thread, and pauses. Strands decides which one runs then. The hooks run in the fibers, on the
      # engine's thread. Only #unblock and #fiber_interrupt are called from other threads.
      #
      # A child that the app forks has no loop. There the first hook removes the scheduler, and everything blocks.
      class Scheduler
        # Of the seconds of the longest duration that Ruby accepts.
        BITS = 63

        def initialize(poller, strands, watches)
          @poller = poller
          @strands = strands
          @watches = watches
        end

        # The fiber begins at once. When it waits or has ended, the caller continues at the loop's next turn.
        def fiber(&block)
          return Fiber.new(blocking: false, &block).tap(&:resume) if left_behind?

          strand = Strand.new(blocking: false, &block)
          @strands.go_on(Fiber.current, nil)
          @strands.pause(nil, true, strand)
          strand
        end

        def io_wait(io, events, timeout = nil)
          left_behind? ? select(io, events, timeout) : @watches.wait(io.fileno, events, seconds(timeout))
        end

        # IO.select, which knows more than the poller: buffers, tied IOs, exceptional conditions. A blocking fiber
        # checks what is ready. If nothing is, a thread waits.
        def io_select(readable, writable = nil, exceptional = nil, timeout = nil)
          return IO.select(readable, writable, exceptional, timeout) if left_behind?

          timeout = seconds(timeout) unless timeout == Float::INFINITY # which IO.select accepts since Ruby 4.0
          ready = Fiber.new(blocking: true) { IO.select(readable, writable, exceptional, 0) }.resume
          ready || (in_thread { IO.select(readable, writable, exceptional, timeout) } unless timeout&.zero?)
        end

        # A ConditionVariable also waits through this hook, and is unblocked.
        def kernel_sleep(duration = nil)
          left_behind? ? sleep(*duration) : @strands.pause(seconds(duration), true)
          true
        end

        # Ruby has checked the timeout. One below 0 is over.
        def block(_blocker, timeout = nil)
          return @strands.pause(timeout, true) unless left_behind?

          sleep(*timeout)
          true
        end

        def unblock(_blocker, fiber) = @strands.unblock(fiber)

        # The object that the fiber waits for was closed (Ruby 4.0 and newer).
        def fiber_interrupt(fiber, exception) = @strands.go_on(fiber, nil, exception)

        # Raises an exception wherever the strand waits at the loop's next turn (Strand#raise).
        def raise_in(strand, exception) = @strands.go_on(strand, nil, exception, nil)

        def timeout_after(duration, exception, message, &block)
          return Timeout.timeout(duration, exception, message, &block) if left_behind?

          timer = @strands.raise_in(duration, [exception, message])
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
          @watches.close
          @strands.close
        end

        private

        # Converts a duration to seconds (a Float, or nil for nil), as Ruby does for threads, but not for a scheduler.
        # Raises what Ruby raises then: TypeError for what is no duration, ArgumentError below 0, RangeError for NaN,
        # Infinity, and more seconds than Ruby can count.
        def seconds(duration)
          return if duration.nil?
          raise TypeError, "can't convert #{duration.class} into time interval" unless duration.respond_to?(:divmod)

          whole, part = duration.divmod(1)
          raise ArgumentError, "time interval must not be negative" if whole.negative?
          raise RangeError, "#{duration} out of Time range" if whole.to_i.bit_length > BITS

          whole.to_i + part.to_f
        end

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
      end
    end
  end
end
