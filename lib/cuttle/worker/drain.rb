# frozen_string_literal: true

module Cuttle
  class Worker
    # Stops a process, from the signal to its end: waits for balancers (--drain-delay), stops the server, and waits for
    # the requests under way, and then for hooks, at most shutdown_timeout. During this time it gives signs of life and
    # obeys signals. It runs on the worker's second thread. If the hooks end first, the process ends, and with it that
    # thread.
    class Drain
      # Seconds between checks whether only stuck requests are left.
      LOOK = 0.1

      # A second INT, or the command halt, ends the wait for requests.
      NOW = %w[INT HALT].freeze

      # +signals+ is the process's Signals, +pulse+ its Pulse. +report+ takes one line for the user. The block obeys
      # signals that don't end the process: backtraces, output files.
      def initialize(server, signals, pulse, report, &obey)
        @server = server
        @settings = server.settings
        @signals = signals
        @pulse = pulse
        @report = report
        @obey = obey
        @told = true
      end

      # The process drains for a restart. Nobody has told it to stop, so the next INT is the first one.
      def restart
        @told = false
      end

      # --drain-delay: readiness has ended, and balancers have time to notice. A second INT ends it.
      def wait_for_balancers
        return unless @settings.drain_delay

        deadline = Cuttle.now + @settings.drain_delay
        while (seconds = deadline - Cuttle.now).positive?
          break if interrupted?(seconds)

          @pulse.beat
        end
      end

      # Stops the server and waits. Returns the exit status when waiting is over; nil if only stuck requests are left.
      def run(leave_backlog:)
        @limit = @settings.shutdown_timeout
        @deadline = Cuttle.now + @limit
        @server.stop_soon(leave_backlog: leave_backlog)
        while (seconds = left).positive?
          return 130 if @halted || interrupted?(@settings.app_timeout ? [seconds, LOOK].min : seconds)
          return if @server.stranded?

          @pulse.beat
        end
        @report.call("#{@hook ? "the hook #{@hook} was" : "requests were"} still under way after #{@limit} s")
        1
      end

      # All requests are answered, and +hook+ runs now. It has +limit+ seconds at least; nil: what is left.
      def hook(hook, limit = nil)
        @hook = hook
        return unless limit && limit > left

        @limit = limit
        @deadline = Cuttle.now + limit
      end

      # Seconds until waiting is over; Infinity before the server is stopped.
      def left
        @deadline ? @deadline - Cuttle.now : Float::INFINITY
      end

      private

      # Waits, and returns whether the wait must end. Meanwhile the process still prints backtraces and opens its output
      # files again.
      def interrupted?(seconds)
        signals = @signals.wait([seconds, @pulse.interval].compact.min)
        (signals & [*Signals::DUMP, "HUP"]).each(&@obey)
        @halted ||= signals.include?("HALT")
        @halted || signals.any? { |name| again?(name) }
      end

      # Whether this is an INT after the process was told to stop.
      def again?(name)
        return true if @told && name == "INT"

        @told ||= (Signals::STOP - %w[HUP]).include?(name)
        false
      end
    end
  end
end
