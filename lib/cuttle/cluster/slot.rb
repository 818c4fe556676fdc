# frozen_string_literal: true

module Cuttle
  class Cluster
    # One worker as the supervisor knows it, and when the next one may start. Times are seconds on the monotonic clock.
    #
    #   empty --ordered--> booting --ready--> serving --ended--> empty (due later if the worker died at boot)
    #                         `------------------`----retire---> retiring --> (the supervisor drops the slot)
    #
    # A worker that misses a deadline is asked for its backtraces, and killed a moment later.
    class Slot
      # A worker that dies at an age below this (seconds) died at boot. So did a worker that never accepted connections.
      BOOT = 5

      # The first death at boot causes no delay. Then the delay is 0.5 s and doubles up to this.
      LONGEST_DELAY = 30

      # Seconds that a worker without a sign of life has to print its backtraces.
      LAST_WORDS = 1

      # The figures of a worker that has not sent any yet.
      NOTHING = { backlog: 0, running: 0, max_threads: 0, auto_threads: 0, busy_threads: 0, pool_capacity: 0,
                  requests_count: 0 }.freeze

      # +index+ is the worker's number for hooks, +place+ its place in the scoreboard, +mould+ what it is forked from.
      attr_reader :index, :place, :mould, :pid, :stats, :started_at, :seen_at, :farewell

      # +boot+: seconds until it must be ready; +silence+: seconds that a ready one may be silent. nil: no limit.
      def initialize(index, place: index, mould: nil, boot: nil, silence: nil)
        @index = index
        @place = place
        @mould = mould
        @boot = boot
        @silence = silence
        @due = @failures = 0
        @stats = {}
      end

      # The worker of a supervisor that this process was before its hot restart. +serving+: it accepts connections.
      def self.elder(pid, serving:)
        new(nil).tap { |slot| slot.send(:adopt, pid, serving) }
      end

      # The mould was told to fork a worker.
      def ordered(now)
        @ordered = @born = now
        @ready = @asked = @dying = nil
        @stats = {}
      end

      # The worker exists.
      def forked(pid)
        @pid ||= pid
        @started_at ||= Time.now
      end

      # The next worker is forked from +mould+.
      def move(mould)
        @mould = mould
      end

      # The worker accepts connections.
      def ready(now)
        @ready = @seen = now
        @proved = true
        @asked = nil
      end

      # The worker gave a sign of life, with the stats of its server.
      def seen(now, stats)
        @seen = now
        @asked = nil
        @seen_at = Time.now
        @stats = stats
      end

      # The worker died, or could not be forked.
      def ended(now)
        @failures = !ready? || now - @born < BOOT ? @failures + 1 : 0
        leave
        @due = now + delay
      end

      # The worker exited by itself in order to be replaced. That is not a failure, however young it was.
      def gave_way(now)
        leave
        @due = now
      end

      # The worker must stop, and has until +deadline+. A worker that does not exist yet gets +farewell+, the name of a
      # signal, when it does.
      def retire(deadline, farewell)
        @retiring = deadline
        @farewell = farewell
      end

      def running? = !@pid.nil?
      def ready? = !@ready.nil?
      def retiring? = !@retiring.nil?
      def failed? = @failures.positive?

      # Whether a worker that accepted connections is missing. (A worker that is added, or replaces another, is not
      # missing while it boots.) Any thread may call it.
      def missed? = @proved && !ready?

      # Whether a worker was ordered and is not known to have ended.
      def taken? = !@ordered.nil?

      def due?(now)
        !taken? && !retiring? && @due <= now
      end

      # What to do about a missed deadline now: first :dump, while the worker may still be able to print where it is,
      # then :kill, each once; nil: nothing.
      def overdue(now)
        return unless taken? && deadline && deadline <= now
        return (@dying = :kill) if retiring? || @asked || !running?

        @asked = now
        :dump
      end

      # What it means that the deadline has passed.
      def fault
        return "did not end in time" if retiring?

        ready? ? "gave no sign of life for #{@silence} s" : "was not ready after #{@boot} s"
      end

      # Seconds until this slot needs the supervisor. nil if only a signal or a message can change the slot.
      def wake_in(now)
        at = taken? ? deadline : @due
        [at - now, 0].max if at
      end

      # For Cluster#stats.
      def status
        { started_at: @started_at, pid: @pid, index: @index, phase: @mould&.phase, booted: ready?,
          retiring: retiring?, last_checkin: @seen_at, last_status: @stats.empty? ? NOTHING : @stats }
      end

      def to_s
        "#{index ? "worker #{index}" : "elder"} (pid #{pid})"
      end

      private

      def adopt(pid, serving)
        ordered(0)
        forked(pid)
        ready(0) if serving
      end

      # Its figures were of a moment. What it counted is in the Tally.
      def leave
        @pid = @ordered = @ready = @started_at = nil
        @stats = {}
      end

      def deadline
        return if @dying
        return @retiring if retiring?
        return @asked + LAST_WORDS if @asked

        ready? ? @silence && (@seen + @silence) : @boot && (@ordered + @boot)
      end

      def delay
        @failures < 2 ? 0 : [0.25 * (2**(@failures - 1)), LONGEST_DELAY].min
      end
    end
  end
end
