# frozen_string_literal: true

module Cuttle
  class Cluster
    # What a supervisor leaves to itself over a hot restart, in an environment variable: the pids of its workers and
    # moulds, which stay its children, and the ends of the lifelines that keep these workers serving.
    class Heritage
      VARIABLE = "CUTTLE_HERITAGE"

      class << self
        # What this process left to itself; removes it from the environment. A copy that a child of the app got is void.
        def take(environment = ENV)
          pid, lives, pids = environment.delete(VARIABLE).to_s.split(";").map { |part| part.split(",").map(&:to_i) }
          pid == [Process.pid] ? new(lives.to_a.filter_map { |life| lifeline(life) }, pids.to_a) : new([], [])
        end

        private

        def lifeline(number)
          IO.for_fd(number, "w").tap { |life| life.close_on_exec = true }
        rescue SystemCallError, ArgumentError
          nil
        end
      end

      attr_reader :pids

      def initialize(lives, pids)
        @lives = lives
        @pids = pids
      end

      # The environment for the program that this process will execute, which will also have +life+ and +pids+.
      def pass_on(life, pids)
        lives = [*@lives, life]
        lives.each { |each| each.close_on_exec = false }
        { VARIABLE => [Process.pid, lives.map(&:fileno).join(","), pids.join(",")].join(";") }
      end

      # The program was not executed: other programs are not to inherit +life+ either.
      def withhold(life)
        [*@lives, life].each { |each| each.close_on_exec = true }
      end

      # For a process that has no workers any more and serves itself: ends those of before, and reaps them.
      def dissolve
        @pids.each { |pid| dismiss(pid) }
        close
        @pids = []
      end

      # Lets the workers of before end.
      def close
        @lives.each(&:close)
        @lives = []
      end

      private

      def dismiss(pid)
        Process.kill(Signals::LEAVE, pid)
        Process.detach(pid)
      rescue Errno::ESRCH
        nil # it has gone already
      end
    end
  end
end
