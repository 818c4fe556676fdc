# frozen_string_literal: true

module Cuttle
  class Cluster
    # The place of one worker: which worker runs in it, when the next one may start, and when the present one must have
    # exited. Times are seconds on the monotonic clock.
    #
    #   empty --started--> running --ended--> empty (due later if the worker lived shortly)
    #                         `----retire---> retiring --> (the supervisor drops the slot)
    class Slot
      # A worker that dies younger than this (seconds) died at boot.
      BOOT = 5

      # The first death at boot causes no delay. Then the delay is 0.5 s and doubles up to this.
      LONGEST_DELAY = 30

      attr_reader :index, :pid

      def initialize(index)
        @index = index
        @due = 0
        @born = 0
        @failures = 0
      end

      def started(pid, now)
        @pid = pid
        @born = now
      end

      # The worker died, or could not be forked.
      def ended(now)
        @failures = !running? || now - @born < BOOT ? @failures + 1 : 0
        @pid = nil
        @due = now + delay
      end

      # The worker exited by itself in order to be replaced. That is no failure, however young it was.
      def gave_way(now)
        @pid = nil
        @due = now
      end

      # The worker was told to stop, and has until +deadline+.
      def retire(deadline)
        @deadline = deadline
      end

      def running?
        !@pid.nil?
      end

      def retiring?
        !@deadline.nil?
      end

      def due?(now)
        !running? && !retiring? && @due <= now
      end

      # True once for each deadline.
      def overdue?(now)
        return false unless running? && retiring? && @deadline <= now

        @deadline = Float::INFINITY
        true
      end

      # Seconds until this slot needs the supervisor. nil if only a signal can change the slot.
      def wake_in(now)
        at = running? ? @deadline : @due
        [at - now, 0].max if at&.finite?
      end

      def to_s
        "worker #{index} (pid #{pid})"
      end

      private

      def delay
        @failures < 2 ? 0 : [0.25 * (2**(@failures - 1)), LONGEST_DELAY].min
      end
    end
  end
end
