# frozen_string_literal: true

module Cuttle
  class Cluster
    # A worker's place: who is in it, and when the next one may be started or the one in it has to be gone.
    # Times are seconds on the monotonic clock.
    #
    #   empty --started--> running --ended--> empty (due later, if it lived shortly)
    #                         `----retire---> retiring --> (the supervisor drops the slot)
    class Slot
      # Who dies younger than this has died at boot.
      BOOT = 5

      # The first death at boot is an accident; then 0.5 s, doubling up to this.
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

      # Its worker is gone (or could not be forked).
      def ended(now)
        @failures = !running? || now - @born < BOOT ? @failures + 1 : 0
        @pid = nil
        @due = now + delay
      end

      # Its worker has ended by itself to be replaced: that is no failure, however young it was.
      def gave_way(now)
        @pid = nil
        @due = now
      end

      # Its worker was told to end, and has until +deadline+.
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

      # Seconds until this slot needs the supervisor; nil where only a signal can change it.
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
