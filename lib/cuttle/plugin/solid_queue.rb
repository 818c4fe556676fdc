# frozen_string_literal: true

module Cuttle
  class Plugin
    # Runs Solid Queue beside the server, as `bin/jobs` in a process of its own: it begins when the server serves, and
    # stops with it. A restart of the server starts it again, with the new code. If it ends by itself, the server stops
    # too, so that the server's own supervisor (systemd, for instance) notices.
    #
    # A killed server can't end it. So a shell reads a pipe whose other end the server has, and ends the jobs when the
    # server has gone. (With -w 0 a child that the app has forked keeps the pipe open.)
    #
    # A restart that the system refuses at the last moment calls after_booted again, and so starts it again.
    class SolidQueue < Plugin
      COMMAND = %w[bin/jobs].freeze

      # A line in the pipe means that there are no more jobs to end.
      GUARD = ["sh", "-c", 'read -r line || kill "$0"'].freeze

      # Seconds between checks whether it is alive.
      PERIOD = 1

      # Seconds that it has to finish its jobs (it gives the jobs themselves 5): less than after_stopped has
      # (Worker::PARTING). The operator's limit for a stop has to include them (docs/deployment.md).
      PATIENCE = 15

      def config(words)
        words.after_booted { run }
        words.before_restart { finish }
        words.after_stopped { finish }
        words.before_worker_boot { @life&.close } # the supervisor's
      end

      def start(process)
        @process = process
      end

      private

      def run
        @finishing = false
        @pid = spawn(*COMMAND, pgroup: true) # a terminal's INT is the server's to pass on
        guard(@pid)
        in_background { watch(@pid) }
      rescue SystemCallError => error
        stop("Solid Queue can't be started: #{error.message}")
      end

      def guard(pid)
        reader, @life = IO.pipe
        Process.detach(spawn(*GUARD, pid.to_s, in: reader, pgroup: true))
      ensure
        reader&.close
      end

      # Another process may soon get the process id of the jobs.
      def dismiss_guard
        life, @life = @life, nil
        life&.puts
        life&.close
      rescue SystemCallError
        nil # it has gone
      end

      def watch(pid)
        sleep PERIOD until (ended = Process.wait2(pid, Process::WNOHANG))
        @pid = nil
        dismiss_guard
        return if @finishing

        stop("Solid Queue ended (#{ended.last})")
      rescue Errno::ECHILD
        nil # #finish has waited for it
      end

      def stop(reason)
        Cuttle.report("#{reason}; the server stops too")
        @process.command("stop")
      end

      def finish
        @finishing = true
        pid, @pid = @pid, nil
        return unless pid # it has ended, or never ran

        Process.kill("TERM", pid)
        killer = in_background { kill_later(pid) }
        Process.wait(pid)
      rescue Errno::ESRCH, Errno::ECHILD
        nil # it has ended just now, and #watch has waited for it
      ensure
        killer&.kill # another process may soon get that process id
        dismiss_guard
      end

      def kill_later(pid)
        sleep PATIENCE
        Process.kill("KILL", pid)
      end
    end
  end
end
