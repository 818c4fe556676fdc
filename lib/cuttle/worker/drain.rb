# frozen_string_literal: true

module Cuttle
  class Worker
    # What a process does from the signal to stop until its requests are answered: it waits for balancers
    # (--drain-delay), stops its server, and waits for what is under way, at most shutdown_timeout. Meanwhile it gives
    # signs of life and obeys signals. It runs on the worker's second thread. If the engine ends first, the process ends
    # with it, and that thread too.
    class Drain
      # Seconds between checks whether only stuck requests are left.
      LOOK = 0.1

      # A second INT, and the command halt, end what waits for requests.
      NOW = %w[INT HALT].freeze

      # +signals+ is the process's Signals, +pulse+ its Pulse. +report+ takes one line for the user. The block obeys a
      # signal that is no reason to end: backtraces, output files.
      def initialize(server, signals, pulse, report, &obey)
        @server = server
        @settings = server.settings
        @signals = signals
        @pulse = pulse
        @report = report
        @obey = obey
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
        @deadline = Cuttle.now + @settings.shutdown_timeout
        @server.stop_soon(leave_backlog: leave_backlog)
        while (seconds = left).positive?
          return 130 if interrupted?(@settings.app_timeout ? [seconds, LOOK].min : seconds)
          return if @server.stranded?

          @pulse.beat
        end
        @report.call("requests were still under way after #{@settings.shutdown_timeout} s")
        1
      end

      # Seconds until waiting is over; Infinity before the server is stopped.
      def left
        @deadline ? @deadline - Cuttle.now : Float::INFINITY
      end

      private

      # Waits. Whether waiting is to end; it still prints where it is, and opens its output files again.
      def interrupted?(seconds)
        signals = @signals.wait([seconds, @pulse.interval].compact.min)
        (signals & [*Signals::DUMP, "HUP"]).each(&@obey)
        signals.intersect?(NOW)
      end
    end
  end
end
