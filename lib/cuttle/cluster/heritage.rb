# frozen_string_literal: true

module Cuttle
  class Cluster
    # What a supervisor hands over to its new program at a hot restart, in an environment variable: the pids of its
    # workers, which stay its children; which of them accept connections; the pids of its moulds, which end with the
    # program; and the ends of the lifelines that keep these workers serving.
    class Heritage
      VARIABLE = "CUTTLE_HERITAGE"

      class << self
        # The heritage of this process, which is removed from the environment. A copy that a child of the app inherited
        # is void.
        def take(environment = ENV)
          parts = environment.delete(VARIABLE).to_s.split(";").map { |part| part.split(",").map(&:to_i) }
          pid, lives, workers, serving, moulds = parts
          return new([], [], [], []) unless pid == [Process.pid]

          new(lives.to_a.filter_map { |life| lifeline(life) }, workers.to_a, serving.to_a, moulds.to_a)
        end

        private

        def lifeline(number)
          IO.for_fd(number, "w").tap { |life| life.close_on_exec = true }
        rescue SystemCallError, ArgumentError
          nil
        end
      end

      # Pids: of the workers, of those among them that accept connections, and of the moulds.
      attr_reader :workers, :serving, :moulds

      def initialize(lives, workers, serving, moulds)
        @lives = lives
        @workers = workers
        @serving = serving
        @moulds = moulds
      end

      # The environment for the program that this process will execute, which will also have +life+ and these pids.
      def pass_on(life, workers:, serving:, moulds:)
        lives = [*@lives, life]
        lives.each { |each| each.close_on_exec = false }
        parts = [[Process.pid], lives.map(&:fileno), workers, serving, moulds]
        { VARIABLE => parts.map { |part| part.join(",") }.join(";") }
      end

      # The program was not executed. Other programs must not inherit +life+.
      def withhold(life)
        [*@lives, life].each { |each| each.close_on_exec = true }
      end

      # For a process that now serves without workers: ends the earlier workers, and reaps them and the moulds.
      def dissolve
        @workers.each { |pid| dismiss(pid) }
        @moulds.each { |pid| Process.detach(pid) }
        close
        @workers = @moulds = []
      end

      # Lets the elders end.
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
