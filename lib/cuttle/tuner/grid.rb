# frozen_string_literal: true

module Cuttle
  module Tuner
    # The settings that are worth considering: each engine with each useful number of workers and threads, and with -t
    # auto if the engine has it. A request that computes for S and waits for Z keeps a core busy with 1 + Z / S slots.
    # Twice as many are enough for requests that differ.
    class Grid
      RUNGS = [*1..6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128].freeze
      SPARE = 2 # times as many slots as keep the cores busy
      WORKERS = [*2..8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64].freeze
      LEAST_CHOICE = Engines::Auto::LEAST + 1 # the fewest threads that auto is limited to: it begins with LEAST
      LEAST_THREADS = 5 # all numbers of threads up to this one are tried: users ask about them

      # The engines that serve any app. The engine ractors needs an app that is shareable, so users must name it.
      def self.engines
        Engines.names.reject { |name| Engines.traits(name).ractors? }
      end

      attr_reader :engines

      # engines: those that can't serve the profile's app are left out; Failure is raised if none is left. cores: the
      # number that the server may use. limits: -t auto must keep them with all the threads that it may
      # start. most: --max-threads of auto, or nil.
      def initialize(profile, engines:, cores:, limits: Limits.new, most: nil)
        @engines = fit(engines, profile.unfit || {})
        @cores = cores
        @slots = slots_of_a_core(profile)
        @footprint = Footprint.new(profile, limit: limits.connections)
        @limits = limits
        @most = most
        @autos = {}
      end

      # The number of slots that keep all cores busy, with a reserve.
      def slots
        (@slots * @cores * SPARE).ceil
      end

      # All Settings.
      def settings
        @settings ||= @engines.flat_map do |engine|
          workers(engine).product(choices(engine)).filter_map { |processes, choice| at(engine, processes, choice) }
        end
      end

      # The choices of threads with +engine+: numbers and auto; nil without a pool.
      def choices(engine)
        traits = Engines.traits(engine)
        return [nil] unless traits.pooled?

        traits.adaptive? ? [*threads, Setting::AUTO] : threads
      end

      # The Setting; nil if the limits leave auto no choice.
      def at(engine, workers, choice)
        return Setting.new(engine: engine, workers: workers, threads: choice) unless choice == Setting::AUTO

        @autos.fetch([engine, workers]) { |key| @autos[key] = auto(engine, workers) }
      end

      # The Setting with the same workers and threads auto, or nil.
      def auto_beside(setting)
        at(setting.engine, setting.workers, Setting::AUTO) if setting.traits.adaptive?
      end

      # Numbers of workers for +engine+. One worker serves like one process without workers, but costs a supervisor.
      def workers(engine)
        most = Engines.traits(engine).inline? ? slots : (@cores + [@cores, 2].min)
        [0, *WORKERS.take_while { |number| number <= [most, 2].max }, *(@cores if @cores > 1)].uniq.sort
      end

      # Numbers of threads.
      def threads
        RUNGS.take_while { |rung| rung <= [(@slots * SPARE).ceil, LEAST_THREADS].max }
      end

      # The neighbours of +setting+: one step in workers or threads, and auto in place of a number.
      def around(setting)
        steps = [[1, 0], [-1, 0], *([[0, 1], [0, -1]] if setting.threads.is_a?(Integer))]
        near = steps.filter_map { |workers, threads| step(setting, workers, threads) }
        [*near, auto_beside(setting)].compact.uniq - [setting]
      end

      # What a search tries beside +setting+: its neighbours, and one step fewer workers with one step more threads, or
      # the reverse. The cheaper of these is often as good, and a single step to it is worse.
      def near(setting)
        return around(setting) unless setting.threads.is_a?(Integer)

        around(setting) | [[-1, 1], [1, -1]].filter_map { |workers, threads| step(setting, workers, threads) }
      end

      private

      def fit(engines, unfit)
        found = engines - unfit.keys
        return found if found.any?

        raise Failure, "no engine serves this app: #{unfit.map { |engine, reason| "#{engine}: #{reason}" }.join("; ")}"
      end

      def slots_of_a_core(profile)
        cpu = [profile.mean_cpu, 1e-6].max
        (1 + (profile.mean_wait / cpu)).clamp(1, RUNGS.last)
      end

      # -t auto. If the limits allow fewer threads than the server would start, they become its --max-threads.
      def auto(engine, workers)
        free = Setting.new(engine: engine, workers: workers, threads: Setting::AUTO, max_threads: @most)
        limits = (@footprint.threads(free) - 1).downto(LEAST_CHOICE)
        limited = limits.map { |most| Setting.new(**free.to_h, max_threads: most) }
        [free, *limited].find { |setting| @footprint.within?(setting, @limits) }
      end

      def step(setting, workers, threads)
        processes = neighbour(self.workers(setting.engine), setting.workers, workers)
        choice = neighbour(self.threads, setting.threads, threads)
        at(setting.engine, processes, choice) if processes && (choice || threads.zero?)
      end

      # The number +steps+ away in +numbers+, which need not contain +number+.
      def neighbour(numbers, number, steps)
        return number if steps.zero?

        steps.positive? ? numbers.find { |each| each > number } : numbers.reverse.find { |each| each < number }
      end
    end
  end
end
