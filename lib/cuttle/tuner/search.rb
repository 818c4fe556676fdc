# frozen_string_literal: true

module Cuttle
  module Tuner
    # Finds the best settings of a profile within limits. It compares all settings of the Grid by their capacity, which
    # is arithmetic. It forecasts the promising ones by simulation, and then those near the best one, until none of them
    # is better. If -t auto is worse only because its limit is too low, the grid gets a higher one.
    class Search
      ENOUGH = 0.97 # share of the best capacity
      FORECASTS = 40 # at most
      OF_AN_ENGINE = 4 # numbers of workers to start with

      # outcomes: the best first. demand: what they are forecast under. capacities: that of every setting in the grids.
      # own: the Grid in which auto has its own limit; grid: another one, with a higher limit, if that is too low.
      Found = Struct.new(:outcomes, :demand, :capacities, :own, :grid, :cores, keyword_init: true) do
        def best
          outcomes.first
        end

        # The settings to measure: the present one, or nil, is the baseline of +count+ others. The best number of
        # threads and -t auto are measured side by side, because the loss through auto can't be predicted. If its own
        # limit is too low, auto is measured with a higher one.
        def contenders(count, present:)
          first, *others = outcomes.map(&:setting)
          counterpart = first.auto? ? best.stand_in : grid.auto_beside(first)
          [present, *[first, counterpart, *others].compact.uniq.first(count)].compact.uniq
        end
      end

      # model: has forecast and capacity (see Model). present: the user's Setting, or nil; it is always forecast.
      # demand: an open one; nil: the target rate, or the rate that leaves headroom. forecasts: the maximum number of
      # forecasts.
      def initialize(model, profile, limits:, engines:, cores:, present: nil, demand: nil, forecasts: FORECASTS)
        @model = model
        @limits = limits
        @cores = cores
        @present = present
        @demand = demand
        @margin = Margin.new(profile)
        @most = forecasts
        @grids = ->(most) { Grid.new(profile, engines: engines, cores: cores, limits: limits, most: most) }
        @own = @grid = @grids.call(present&.max_threads)
        @footprint = Footprint.new(profile, limit: limits.connections)
        @ranking = Ranking.new(limits: limits, present: present)
        @outcomes = {}
      end

      # Returns a Found.
      def run
        capacities
        [@present, *promising].compact.first(@most).each { |setting| outcome(setting) }
        climb
        raise_limit(ranked.first.setting)
        Found.new(outcomes: ranked, demand: demand, capacities: capacities, own: @own, grid: @grid, cores: @cores)
      end

      # The Outcome of +setting+ under the demand.
      def outcome(setting)
        @outcomes[setting] ||= Outcome.predicted(@model.forecast(setting, demand, cores: @cores), @margin)
      end

      # The demand that settings are compared under: the target rate, or the rate that leaves headroom.
      def demand
        @demand ||= Demand.open(@limits.rate || (fitting.values.max * Ranking::ROOM))
      end

      # Setting => requests per second.
      def capacities
        @capacities ||= rates(@grid.settings)
      end

      private

      def rates(settings)
        settings.to_h { |setting| [setting, @model.capacity(setting, cores: @cores).first] }
      end

      # The capacities of the settings that keep the limits of memory and connections; all capacities, if none does.
      def fitting
        @fitting ||= roomy.empty? ? capacities : capacities.slice(*roomy)
      end

      def roomy
        @roomy ||= capacities.keys.select { |setting| @footprint.within?(setting, @limits) }
      end

      # For each engine and number of workers, the fewest threads that reach ENOUGH. An engine that never reaches it is
      # represented by its best setting. If no setting keeps the limits, the one that needs the least is included.
      def promising
        of_engines = fitting.keys.group_by(&:engine).values.flat_map do |settings|
          firsts = settings.group_by(&:workers).values.filter_map { |group| group.find { |each| enough?(each) } }
          firsts.empty? ? [settings.max_by { |each| useful(each) }] : firsts.first(OF_AN_ENGINE)
        end
        roomy.empty? ? [*of_engines, lightest] : of_engines
      end

      def lightest
        capacities.keys.min_by { |setting| [@footprint.memory(setting).to_f, @footprint.connections(setting).to_i] }
      end

      def enough?(setting)
        useful(setting) >= sufficient
      end

      def useful(setting)
        [fitting[setting], *@limits.enough].min
      end

      def sufficient
        @sufficient ||= [fitting.values.max * ENOUGH, *@limits.enough].min
      end

      # Forecasts the settings near the best one until it stays the best.
      def climb
        until @outcomes.length >= @most
          new = @grid.near(ranked.first.setting).select { |each| fitting.key?(each) && !@outcomes.key?(each) }
          break if new.empty?

          new.first(@most - @outcomes.length).each { |setting| outcome(setting) }
        end
      end

      # Lets auto start as many threads as +best+ has, if it may start only fewer, and more would make it better.
      def raise_limit(best)
        own = @own.auto_beside(best)
        return if own.nil? || best.auto? || best.threads <= @footprint.threads(own)

        higher = @grids.call(best.threads)
        raised = higher.auto_beside(best)
        return if raised.nil? || @ranking.behind(outcome(own), outcome(raised)).empty?

        @capacities = capacities.merge(rates(higher.settings - @own.settings))
        @grid = higher
      end

      def ranked
        @ranking.order(@outcomes.values)
      end
    end
  end
end
