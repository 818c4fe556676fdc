# frozen_string_literal: true

module Cuttle
  class Cluster
    # The end of a supervisor whose workers have ended: its hooks after_stopped run in a thread of their own. They have
    # a limit, and a second INT, or the command halt, ends the wait for them.
    class Parting
      NOW = Worker::Drain::NOW

      # What the thread says at its end, as if it were a signal.
      OVER = "PARTED"

      # +report+ takes one line for the user.
      def initialize(hooks, signals, heartbeat, report)
        @hooks = hooks
        @signals = signals
        @heartbeat = heartbeat
        @report = report
      end

      # Runs the hooks for at most +limit+ seconds. Returns whether they have ended.
      def run(limit)
        thread = Thread.new { call }
        deadline = Cuttle.now + limit
        while (left = deadline - Cuttle.now).positive?
          signals = wait(left)
          return signals.include?(OVER) if signals.intersect?([OVER, *NOW])
        end
        @report.call("the hook after_stopped was still under way after #{limit} s")
        false
      ensure
        thread&.kill
      end

      private

      def call
        @hooks.attempt(:after_stopped)
      ensure
        @signals.add(OVER)
      end

      def wait(seconds)
        @signals.wait([seconds, @heartbeat.wake_in(Cuttle.now)].compact.min).tap { @heartbeat.beat(Cuttle.now) }
      end
    end
  end
end
