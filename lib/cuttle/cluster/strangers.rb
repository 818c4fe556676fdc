# frozen_string_literal: true

module Cuttle
  class Cluster
    # Children of the supervisor that it did not start: what apps left behind, for it adopts orphans, as process 1 of a
    # container also without being asked. They are reaped, so that they don't stay in the table of processes. A child
    # that a plugin started has time to be waited for by the plugin.
    class Strangers
      # Seconds that a dead child has to be waited for by somebody else.
      PATIENCE = 30

      # Of /proc/PID/stat: the pid, the state, the parent, and the number of threads.
      STAT = /\A(\d+) .*\) (\S) (\d+)(?: \S+){15} (\d+)/m

      # The block returns the pids that are not strangers.
      def initialize(&known)
        @known = known
        @dead = []
      end

      # A child has ended.
      def look_soon(now)
        @due ||= now + PATIENCE
      end

      # Seconds until #tend has something to do; nil if there is nothing.
      def wake_in(now)
        [@due - now, 0].max if @due
      end

      # Reaps, if it is time for it, those that were dead at the last look already.
      def tend(now)
        return unless @due && @due <= now

        dead = zombies - @known.call
        (dead & @dead).each { |pid| reap(pid) }
        @dead = dead - @dead
        @due = @dead.empty? ? nil : now + PATIENCE
      end

      private

      # Dead children of this process, as Linux tells it. A process whose first thread alone has ended is a zombie too,
      # with the threads that are left; nobody can wait for it yet.
      def zombies
        Dir["/proc/[0-9]*/stat"].filter_map do |path|
          pid, state, parent, threads = File.read(path).match(STAT)&.captures
          pid.to_i if state == "Z" && parent.to_i == Process.pid && threads.to_i <= 1
        rescue SystemCallError
          nil # it is gone
        end
      end

      def reap(pid)
        Process.wait2(pid, Process::WNOHANG)
      rescue Errno::ECHILD
        nil # somebody was faster
      end
    end
  end
end
