# frozen_string_literal: true

module Cuttle
  module Tuner
    # The settings that are worth a look: every engine with every number of workers and threads up to those that can't
    # help any more. A request that computes for S and waits for Z keeps a core busy with 1 + Z / S slots; twice as many
    # are enough for requests that differ.
    class Grid
      RUNGS = [*1..6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128].freeze
      SPARE = 2 # times the slots that keep the cores busy
      WORKERS = [*2..8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64].freeze
      LEAST_THREADS = 5 # the highest number of threads that is always tried: users ask about these

      # The engines that serve any app. Ractors need an app that they can share, so they must be named.
      def self.engines
        Engines.names.reject { |name| Engines.traits(name).ractors? }
      end

      # cores: how many the server may use.
      def initialize(profile, engines:, cores:)
        @engines = engines
        @cores = cores
        @slots = slots_of_a_core(profile)
      end

      # Slots that keep all cores busy, with spare ones.
      def slots
        (@slots * @cores * SPARE).ceil
      end

      # All Settings.
      def settings
        @settings ||= @engines.flat_map do |engine|
          pooled = Engines.traits(engine).pooled?
          workers(engine).product(pooled ? threads : [nil]).map do |processes, number|
            Setting.new(engine: engine, workers: processes, threads: number)
          end
        end
      end

      # Numbers of workers for +engine+. One worker serves as one process without workers does, but costs a supervisor.
      def workers(engine)
        most = Engines.traits(engine).inline? ? slots : (@cores + [@cores, 2].min)
        [0, *WORKERS.take_while { |number| number <= [most, 2].max }, *(@cores if @cores > 1)].uniq.sort
      end

      # Numbers of threads.
      def threads
        RUNGS.take_while { |rung| rung <= [(@slots * SPARE).ceil, LEAST_THREADS].max }
      end

      # The settings next to +setting+: one step in workers or threads.
      def around(setting)
        steps = [[1, 0], [-1, 0], [0, 1], [0, -1]]
        steps.filter_map { |workers, threads| step(setting, workers, threads) }
      end

      private

      def slots_of_a_core(profile)
        cpu = [profile.mean_cpu, 1e-6].max
        (1 + (profile.mean_wait / cpu)).clamp(1, RUNGS.last)
      end

      def step(setting, workers, threads)
        processes = neighbour(self.workers(setting.engine), setting.workers, workers)
        number = setting.threads && neighbour(self.threads, setting.threads, threads)
        return unless processes && (number || setting.threads.nil?)

        found = Setting.new(engine: setting.engine, workers: processes, threads: number)
        found unless found == setting
      end

      # The number +steps+ away in +numbers+, which need not have +number+ itself.
      def neighbour(numbers, number, steps)
        return number if steps.zero?

        steps.positive? ? numbers.find { |each| each > number } : numbers.reverse.find { |each| each < number }
      end
    end
  end
end
