# frozen_string_literal: true

module Cuttle
  module Lab
    # A lab's plan: configurations (a server, a model, its numbers) under loads, in rounds. Frozen.
    #
    # Rule: a round is a randomized complete block. It starts each configuration once and gives it every load. The seed
    # and the round's number alone decide both orders. A plan that the lab makes itself has one configuration twice in
    # every round, unchanged: the A/A control.
    class Plan
      autoload :Budget, "cuttle/lab/plan/budget"
      autoload :Configurations, "cuttle/lab/plan/configurations"
      autoload :Declared, "cuttle/lab/plan/declared"
      autoload :Fairness, "cuttle/lab/plan/fairness"

      OPEN_CONNECTIONS = 1000 # most connections in an open loop

      # A start of a configuration in a round, with its loads in order.
      Start = Struct.new(:configuration, :loads, :round) do
        # The same with the loads that are among these pairs [configuration id, load id]; nil if there are none.
        def only(pairs)
          loads = self.loads.select { |load| pairs.include?([configuration.id, load.id]) }
          self.class.new(configuration, loads, round) if loads.any?
        end
      end

      attr_reader :configurations, :loads, :missing, :seed, :rounds, :duration, :warmup, :cut, :pairs

      # Makes a plan from Options. pilot: a Runner::Pilot::Found. Without one, open loops at a share of the capacity
      # have no rate, and the usual time is assumed for a start. spent: seconds of the budget already used. Raises
      # UsageError.
      def self.build(options, peers: Servers::Peers, pilot: nil, spent: 0)
        found = Configurations.new(options, peers)
        all = found.to_a
        loads = asked(options, pilot)
        budget = Budget.new(options, starts: all.length - found.missing.length, loads: loads.length, spent: spent,
                                     **times(pilot, loads)).fit
        new(configurations: found.at_most(budget.starts), loads: loads, missing: found.missing, seed: options.seed,
            rounds: budget.rounds, duration: budget.duration, warmup: budget.warmup, cut: budget.cut)
      end

      # The plan in the header of a results file.
      def self.of(results)
        new(configurations: results.configurations, loads: results.loads,
            missing: results.missing.to_h { |each| [each.configuration, each.reason] }, seed: results.seed,
            rounds: results.rounds, duration: results.duration, warmup: results.warmup, cut: results.cut,
            pairs: results.pairs)
      end

      def self.asked(options, pilot)
        keep_alive = options.keep_alive.first if options.keep_alive.length == 1 # else each configuration's own
        closed = options.concurrency.map { |count| [counted(count, "connection"), "closed", count, nil, false] }
        open = [*options.rates, *options.shares.map { |share| pilot&.rate(share) }].map do |rate|
          name = rate ? "#{format("%g", rate)}/s" : "a share of the capacity"
          [name, "open", OPEN_CONNECTIONS, rate, options.poisson]
        end
        (closed + open).uniq.map.with_index(1) do |(name, kind, connections, rate, poisson), number|
          Results::LoadSpec.new("id" => "l#{number}", "name" => name, "loop" => kind, "connections" => connections,
                                "rate" => rate, "poisson" => poisson, "keep_alive" => keep_alive)
        end
      end

      # What the pilot found, for a Budget.
      def self.times(pilot, loads)
        return {} unless pilot

        { boot: pilot.start, slot: pilot.slot, response: loads.sum { |load| pilot.response(load) } / loads.length }
      end

      def self.counted(count, what)
        "#{count} #{what}#{"s" unless count == 1}"
      end

      private_class_method :asked, :counted, :times

      # pairs: configuration id => ids of its loads. nil: every configuration gets all loads.
      def initialize(configurations:, loads:, missing:, seed:, rounds:, duration:, warmup:, cut:, pairs: nil)
        @configurations = configurations.freeze
        @loads = loads.freeze
        @missing = missing.freeze
        @seed = seed
        @rounds = rounds
        @duration = duration
        @warmup = warmup
        @cut = cut.freeze
        @pairs = pairs.freeze
        freeze
      end

      # Configurations that can be started here.
      def present
        configurations.reject { |configuration| missing.key?(configuration.id) }
      end

      def loads_of(configuration)
        pairs ? loads.select { |load| pairs.fetch(configuration.id, []).include?(load.id) } : loads
      end

      # The number of runs.
      def length
        rounds * present.sum { |configuration| loads_of(configuration).length }
      end

      # The Starts of a round, in order.
      def round(number)
        random = Random.new((seed << 20) + number)
        groups = present.group_by { |configuration| configuration.base || configuration.id }.values
        groups.shuffle(random: random).flat_map { |group| shuffled(group, random) }.map do |configuration|
          Start.new(configuration, closed_first(loads_of(configuration).shuffle(random: random)), number)
        end
      end

      # The plan's part of a results file's header.
      def to_h
        { "seed" => seed, "rounds" => rounds, "duration" => duration, "warmup" => warmup, "cut" => cut,
          "configurations" => configurations.map(&:to_h), "loads" => loads.map(&:to_h), "pairs" => pairs }
      end

      private

      # An open loop would overload a server that is not warm yet.
      def closed_first(loads)
        loads.partition { |load| !load.open? }.flatten
      end

      # A group of one takes no random number, so seeds of labs without groups give the same orders as before.
      def shuffled(group, random)
        group.one? ? group : group.shuffle(random: random)
      end
    end
  end
end
