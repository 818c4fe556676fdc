# frozen_string_literal: true

module Cuttle
  module Tuner
    # The checked options of `cuttle tune`. Frozen. Times are seconds, sizes octets.
    #
    #   app, work, path, mix            the app (work: parameters of the work app), and its requests
    #   requests                        Load::Requests in place of a mix, or nil
    #   limits                          Limits that the answer must keep
    #   engines                         engines to choose from; nil: all that serve any app
    #   budget, seed, cpus              time and conditions of the measurements
    #   kept                            path of a profile to use instead of measuring one, or nil
    #   verify                          whether to measure the best settings
    #   rounds, duration                of the verification: number of rounds, seconds of a run; nil: by the budget
    #   present                         the user's Setting, or nil
    #   place                           where that setting is written: "config/cuttle.rb", "the defaults"
    #   configuration                   path of the configuration file to change, or nil
    #   directory, command              where results are kept; the user's command line
    class Options
      DEFAULTS = {
        app: "work", work: {}, path: "/", mix: nil, requests: nil, limits: Limits.new, engines: nil, budget: 300,
        rounds: nil, duration: nil, seed: nil, cpus: {}, kept: nil, verify: true, present: nil, place: nil,
        configuration: nil, directory: "tune-results", command: %w[cuttle tune]
      }.freeze
      # In seconds. With a smaller budget, intervals are wider than the differences between settings.
      LEAST_BUDGET = 20

      attr_reader(*DEFAULTS.keys)

      # Raises UsageError.
      def initialize(**given)
        unknown = given.keys - DEFAULTS.keys
        raise UsageError, "no option #{unknown.first}" if unknown.any?

        DEFAULTS.merge(given.compact).each { |name, value| instance_variable_set("@#{name}", value) }
        @seed ||= Random.new_seed % 1_000_000
        @engines = (engines || Grid.engines).map(&:to_s).uniq.freeze
        check
        freeze
      end

      # A copy with other values.
      def with(**changes)
        self.class.new(**DEFAULTS.keys.to_h { |name| [name, public_send(name)] }, **changes)
      end

      # The lab's options for the same app, requests and cores. further: of Lab::Options. Raises UsageError.
      def to_lab(**further)
        Lab::Options.new(app: app, profile: work, path: path, mix: mix, cpus: cpus, seed: seed, command: command,
                         **further)
      end

      private

      def check
        engines.each { |name| Engines.traits(name) }
        raise UsageError, "--engines: give at least one" if engines.empty?
        raise UsageError, "--seed: a whole number from 0 on, not #{seed.inspect}" unless
          seed.is_a?(Integer) && !seed.negative?

        check_run
        check_budget
      end

      def check_run
        raise UsageError, "--rounds: a whole number from 1 on, not #{rounds.inspect}" unless
          rounds.nil? || (rounds.is_a?(Integer) && rounds.positive?)
        raise UsageError, "--duration: 50 ms at least" unless duration.nil? || duration >= 0.05
      end

      def check_budget
        return if kept && !verify

        raise UsageError, "--budget: a time above 0" unless budget.positive? && budget < 1e6
        return if budget >= LEAST_BUDGET

        raise UsageError, "--budget: #{Load::Units.duration(budget)} is too short: give at least " \
                          "#{Load::Units.duration(LEAST_BUDGET)}"
      end
    end
  end
end
