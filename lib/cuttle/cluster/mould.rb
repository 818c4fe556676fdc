# frozen_string_literal: true

module Cuttle
  class Cluster
    # The supervisor's side of a mould: the process that has loaded the app, from which workers are forked. New code
    # means a new mould. A mould obeys the commands that it reads from its pipe, and ends when the pipe ends, so it ends
    # with its supervisor too.
    class Mould
      # Seconds that a mould that hangs has to print its backtraces.
      LAST_WORDS = 1

      attr_reader :pid, :phase, :directory

      # +pid+: of a process that is a mould already. +directory+: where it works; nil: where the supervisor does.
      def initialize(phase, pid = nil, directory: nil)
        @phase = phase
        @pid = pid
        @directory = directory
      end

      # Forks the mould. Returns self. The block runs in it, gets the end of the pipe to read commands from, and must
      # not return.
      def start
        commands, @pipe = IO.pipe
        @pid = fork do
          @pipe.close
          yield commands
        end
        commands.close
        self
      end

      # The worker +pid+ is to be this mould, and gets the pipe by +handover+. Returns self. Raises SystemCallError.
      def succeed(pid, handover)
        commands, @pipe = IO.pipe
        @pid = pid
        handover.offer(pid, commands)
        self
      rescue SystemCallError
        close
        raise
      ensure
        commands&.close
      end

      # The app is loaded.
      def loaded
        @loaded = true
      end

      def loaded? = @loaded

      # When it will be killed; nil: not at all.
      attr_reader :deadline

      # It must have ended by then.
      def end_by(deadline)
        @deadline = deadline
        kill_if_overdue(Cuttle.now)
      end

      # The mould did not fork a worker as commanded: requests its backtraces, and has it killed a moment later.
      def hangs(now)
        return if dead? || @deadline

        Process.kill(Signals::DUMP.last, pid)
        @deadline = now + LAST_WORDS
      end

      def kill_if_overdue(now)
        return unless @deadline && @deadline <= now

        @deadline = nil
        Process.kill("KILL", pid)
      end

      # It was reaped.
      def died
        @dead = true
        @deadline = nil # its pid may be another's soon
      end

      def dead? = @dead

      # Has a worker forked for +slot+. The answer comes over the wire.
      def order(slot)
        tell("fork #{slot.index} #{slot.place}")
      end

      # Has the mould open its output files again.
      def reopen
        tell("reopen")
      end

      # Lets the mould end. Its workers go on.
      def close
        @pipe&.close
      end

      def closed? = @pipe.nil? || @pipe.closed?

      def to_s
        "the process that loads the app (pid #{pid})"
      end

      private

      def tell(line)
        @pipe.write_nonblock("#{line}\n", exception: false) unless closed?
      rescue Errno::EPIPE
        nil # it is dead, and the supervisor will reap it
      end
    end
  end
end
