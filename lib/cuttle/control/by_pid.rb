# frozen_string_literal: true

module Cuttle
  class Control
    # Commands as signals, for a server without a control listener.
    class ByPid
      # Command => its signal. HUP is missing, because it stops a server whose output does not go to files.
      SIGNALS = {
        "stop" => "TERM", "halt" => "INT", "restart" => "USR2", "phased-restart" => "USR1", "add-worker" => "TTIN",
        "remove-worker" => "TTOU"
      }.freeze

      # Seconds until a halted server must have ended, and between the signals to it.
      HALT = 10
      AGAIN = 0.1

      def initialize(pid)
        @pid = pid
      end

      # The answer of `cuttle ctl status`. Raises Error if there is no such process.
      def status
        signal(0)
        "running"
      end

      # Sends the signal of a command. Raises Error if there is no such process, or no such signal.
      def call(name)
        return halt if name == "halt"

        signal(SIGNALS.fetch(name) { raise Error, "#{name} needs a control listener: serve with --control-url" })
      end

      def to_s
        "process #{@pid}"
      end

      private

      # The first INT stops a server, and the next one ends it. Two signals that arrive together may count as one.
      def halt
        signal("INT")
        (HALT / AGAIN).round.times { return unless again }
        raise Error, "#{self} did not end within #{HALT} s"
      end

      # Whether the process was still there a moment later.
      def again
        sleep AGAIN
        Process.kill("INT", @pid)
      rescue Errno::ESRCH
        nil
      end

      def signal(name)
        Process.kill(name, @pid)
      rescue Errno::ESRCH, RangeError
        raise Error, "not running (no #{self})"
      rescue Errno::EPERM
        raise Error, "this user may not signal #{self}"
      end
    end
  end
end
