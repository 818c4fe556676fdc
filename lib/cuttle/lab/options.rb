# frozen_string_literal: true

module Cuttle
  module Lab
    # The checked options of a lab. Frozen. Times are seconds. For an axis that is empty or nil, the plan chooses the
    # values.
    #
    #   app, profile, path, mix          the app and its requests
    #   engines, servers, workers, threads, slots, keep_alive, rubies    the configurations
    #   concurrency, rates, shares, poisson, timeout, delay, bandwidth   the loads; shares: open loops at this share of
    #                                                                    the control's capacity (0.6)
    #   rounds, duration, warmup, seed, budget, cpus, patience           the method; patience: seconds to wait, before
    #                                                                    each start, until no other process wants a core
    #   notes                                                            further keys for the results' header
    class Options
      DEFAULTS = {
        app: "work", profile: {}, path: "/", mix: nil,
        engines: nil, servers: [], workers: [0, 2], threads: [5], slots: nil, keep_alive: [false], rubies: [nil],
        concurrency: nil, rates: [], shares: [], poisson: false, timeout: 10, delay: 0, bandwidth: nil,
        rounds: nil, duration: nil, warmup: nil, seed: nil, budget: nil, cpus: {}, patience: 0,
        directory: "lab-results", command: %w[cuttle lab], resume: nil, notes: {}
      }.freeze

      # Used if neither rates nor connections are given: a closed loop to measure the capacity of a configuration, and
      # an open loop with requests at random times to measure how long users wait when the server isn't overloaded.
      CONCURRENCY = [20].freeze
      SHARES = [0.6].freeze
      # The default profile of the work app: it mostly waits, as web apps do, and a short run contains many requests.
      PROFILE = { "cpu_ms" => 2, "iowait_ms" => 10, "response_chars" => 1000 }.freeze
      BUDGET = 120
      ROUNDS = 6
      DURATION = 1.0
      WARMUP = 0.5
      MOST = { workers: 256, threads: 10_000, concurrency: 100_000 }.freeze

      attr_reader(*DEFAULTS.keys)

      # Raises UsageError.
      def initialize(**given)
        unknown = given.keys - DEFAULTS.keys
        raise UsageError, "no option #{unknown.first}" if unknown.any?

        @given = given.compact.keys
        DEFAULTS.merge(given.compact).each { |name, value| instance_variable_set("@#{name}", value) }
        complete
        check
        freeze
      end

      # Whether +name+ was given.
      def given?(name)
        @given.include?(name)
      end

      # Whether there is a load with a given rate.
      def open?
        rates.any? || shares.any?
      end

      # Whether the plan needs figures from a running server (see Runner::Pilot).
      def pilot?
        shares.any? || !budget.nil?
      end

      private

      def complete
        default_loads unless concurrency || open?
        @concurrency ||= []
        @profile = PROFILE if app == "work" && profile.empty?
        @seed ||= Random.new_seed % 1_000_000
        @budget ||= BUDGET unless %i[rounds duration].any? { |name| given?(name) }
        @rounds ||= ROUNDS unless @budget
        @duration ||= DURATION
        @warmup ||= WARMUP
      end

      def default_loads
        @concurrency = CONCURRENCY
        @shares = SHARES
        @poisson = true
      end

      def check
        counts(:workers, 0)
        counts(:threads, 1)
        counts(:concurrency, 1)
        whole(:rounds, rounds, 1) if rounds
        whole(:slots, slots, 1) if slots
        whole(:seed, seed, 0)
        times
        raise UsageError, "--rate: above 0" unless rates.all? { |rate| rate.positive? && rate.finite? }
        raise UsageError, "--rate: above 0% of the capacity" unless shares.all? { |each| each.positive? && each < 100 }
        raise UsageError, "--poisson is for --rate" if poisson && !open?
        raise UsageError, "give --concurrency or --rate" if concurrency.empty? && !open?
      end

      def counts(name, least)
        values = public_send(name)
        raise UsageError, "#{flag(name)}: at least one number" if values.empty? && name != :concurrency

        values.each do |value|
          whole(name, value, least)
          raise UsageError, "#{flag(name)}: at most #{MOST[name]}" if value > MOST[name]
        end
      end

      def whole(name, value, least)
        return if value.is_a?(Integer) && value >= least

        raise UsageError, "#{flag(name)}: a whole number from #{least} on, not #{value.inspect}"
      end

      def times
        { duration: duration, timeout: timeout, budget: budget }.compact.each do |name, value|
          raise UsageError, "#{flag(name)}: a time above 0" unless value.positive? && value < 1e6
        end
        { warmup: warmup, delay: delay }.each do |name, value|
          raise UsageError, "#{flag(name)}: a time from 0 on" if value.negative?
        end
        raise UsageError, "--duration: 50 ms at least" if duration < 0.05
      end

      def flag(name)
        "--#{name.to_s.tr("_", "-")}"
      end
    end
  end
end
