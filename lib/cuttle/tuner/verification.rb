# frozen_string_literal: true

module Cuttle
  module Tuner
    # Measures settings in the lab: interleaved, in rounds, each under two loads. Closed loop: as many connections as
    # keep the setting with the most slots busy, for the capacity. Open loop: the target rate at random times, for
    # response times.
    class Verification
      NOTE = "tune" # its key in the header of the lab's results
      LEAST_ROUNDS = 3
      ROUNDS = 5 # if shorter runs make room for them
      MOST_ROUNDS = 12
      DURATIONS = [6, 4, 3, 2, 1.5, 1, 0.5].freeze # seconds of a run; the longest that allows enough rounds
      WARMUP = 0.5 # seconds; at most the run's duration
      GROWTH = 1.0 # seconds; the warm-up if one setting has -t auto, which starts its threads during it
      AUTO = Lab::Servers::Peers::Cuttle::AUTO # the suffix of the lab's model names with -t auto
      LIMIT = "--max-threads"
      FIBERS = "--max-fibers"
      POOL = "RAILS_MAX_THREADS" # the lab sets it to the number of threads, as a user does; with -t auto there is none
      STOP = 0.5 # seconds to start and stop the processes, in addition to the app's boot
      BETWEEN = 0.4 # seconds in addition to warm-up and measurement
      LOADS = 2
      CONNECTIONS = (8..512)

      # A plan's size. duration and warmup are in seconds.
      Size = Struct.new(:rounds, :duration, :warmup)

      # settings: the first is the baseline. present: the user's own of them, or nil. slots: the number that keeps the
      # cores busy. boot: seconds. footprint: has max_fibers for settings that need a limit, or nil.
      def initialize(settings, rate:, slots:, present: nil, boot: nil, footprint: nil)
        @settings = settings
        @footprint = footprint
        @present = present
        @rate = rate
        @slots = slots
        @boot = boot || 1.0
      end

      # Connections of the closed loop: more than the settings can serve at once, but no more than a server is sure to
      # have descriptors for. The largest settings may need more to show their capacity (see Advisor).
      def connections
        most = @settings.map { |setting| setting.slots * setting.processes }.max
        (1.5 * [most, @slots].min).ceil.clamp(CONNECTIONS.begin, CONNECTIONS.end)
      end

      # The Size that fits into +budget+ seconds; nil if none does. The user's own rounds and duration are kept. If both
      # are given, they are the Size whatever the budget.
      def size(budget, rounds: nil, duration: nil)
        return sized(rounds, duration) if rounds && duration

        (duration ? [duration] : DURATIONS).each do |seconds|
          fitting = (budget / seconds(seconds)).floor
          enough = rounds || (duration ? LEAST_ROUNDS : enough(seconds))
          return sized(rounds || [fitting, MOST_ROUNDS].min, seconds) if fitting >= enough
        end
        nil
      end

      # That many rounds of runs with that duration.
      def sized(rounds, duration)
        Size.new(rounds, duration, [@settings.any?(&:auto?) ? GROWTH : WARMUP, duration].min)
      end

      # Seconds of the smallest useful verification with the user's own rounds and duration.
      def least(rounds: nil, duration: nil)
        ((rounds || LEAST_ROUNDS) * seconds(duration || DURATIONS.last)).ceil
      end

      # Measures and returns the directory of the lab's results. options: Tuner::Options. size: a Size. budget: in
      # seconds; no round begins after it. Raises Lab::Failure.
      def run(options, size, budget:, directory:, out:)
        lab = options.to_lab(directory: directory, rounds: size.rounds, duration: size.duration, warmup: size.warmup,
                             budget: budget, concurrency: [connections], notes: { NOTE => { "rate" => @rate } })
        Lab.run(lab, out: out, plan: plan(options.seed, size), least: Verification.least_rounds(options))
      end

      # Rounds that run whatever time they take: the user's number, or the fewest that are useful.
      def self.least_rounds(options)
        options.rounds || LEAST_ROUNDS
      end

      def plan(seed, size)
        pairs = @settings.product(loads).map { |setting, load| [configuration(setting), load] }
        Lab::Plan::Declared.new(pairs).plan(seed: seed, **size.to_h)
      end

      # The Setting of a verification's Lab::Results::Configuration.
      def self.setting(configuration)
        engine = configuration.model.delete_suffix(AUTO)
        threads = engine == configuration.model ? configuration.threads : Setting::AUTO
        Setting.new(engine: engine, workers: configuration.workers, threads: threads,
                    max_threads: configuration.flags&.last&.to_i)
      end

      private

      # The number of rounds that must fit if a run takes that many seconds.
      def enough(duration)
        duration > DURATIONS.last ? ROUNDS : LEAST_ROUNDS
      end

      # Seconds of a round.
      def seconds(duration)
        @settings.length * (@boot + STOP + (LOADS * (sized(1, duration).warmup + duration + BETWEEN)))
      end

      def loads
        [{ "name" => "#{connections} connections", "loop" => "closed", "connections" => connections, "rate" => nil,
           "poisson" => false, "keep_alive" => false },
         { "name" => Demand.open(@rate).name, "loop" => "open", "connections" => Lab::Plan::OPEN_CONNECTIONS,
           "rate" => @rate, "poisson" => true, "keep_alive" => false }]
      end

      # See Verification.setting.
      def configuration(setting)
        auto = setting.auto?
        { "name" => setting.name, "server" => "cuttle", "model" => "#{setting.engine}#{AUTO if auto}",
          "workers" => setting.workers, "threads" => auto ? 1 : setting.threads || 1, "keep_alive" => false,
          "flags" => flags(setting),
          "environment" => ({ POOL => pool(setting).to_s } if auto && pool(setting)) }.compact
      end

      def flags(setting)
        return [LIMIT, setting.max_threads.to_s] if setting.max_threads

        number = @footprint&.max_fibers(setting)
        [FIBERS, number.to_s] if number
      end

      # Database connections of each process with -t auto: as many as with the number of threads that it is compared
      # with. Otherwise it would stop at Rails' default of 5. nil: leave it as it is in the user's environment.
      def pool(auto)
        return if auto == @present

        auto.max_threads || @settings.find { |each| each.beside?(auto) && !each.auto? }&.threads
      end
    end
  end
end
