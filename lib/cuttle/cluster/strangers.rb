# frozen_string_literal: true

module Cuttle
  class Cluster
    # Children of the supervisor that it did not start: processes that apps left behind. The supervisor adopts orphans,
    # and as process 1 of a container it gets them in any case. They are reaped, so that they don't stay in the process
    # table. A plugin that started a child has some time to wait for it.
    class Strangers
      # Seconds that others have to wait for a dead child.
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

      # If it is time, reaps the children that were already dead at the previous check.
      def tend(now)
        return unless @due && @due <= now

        dead = zombies - @known.call
        (dead & @dead).each { |pid| reap(pid) }
        @dead = dead - @dead
        @due = @dead.empty? ? nil : now + PATIENCE
      end

      private

      # Dead children of this process, according to Linux. A process whose first thread has ended is a zombie even if
      # other threads are left. Its parent can't reap it yet.
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
