# frozen_string_literal: true

module Cuttle
  module Tuner
    # Finds the best settings of a profile within limits. All settings of the Grid are compared by their capacity, which
    # is arithmetic. The promising ones are forecast, which is a simulation, and then the neighbours of the best one,
    # until none of them is better.
    class Search
      ENOUGH = 0.97 # of the best capacity
      FORECASTS = 40 # at most
      OF_AN_ENGINE = 4 # numbers of workers to begin with

      # The Outcomes, the best first; what they were asked for; and the capacity of every setting of the grid.
      Found = Struct.new(:outcomes, :demand, :capacities, :grid, :cores, keyword_init: true) do
        def best
          outcomes.first
        end

        # Whether the best one keeps the limits.
        def within?(limits)
          best.excess(limits).empty?
        end
      end

      # model: has forecast and capacity (see Model). present: the user's Setting, or nil; it is always forecast.
      # demand: an open one, or nil for the target rate, or for as much as leaves room. forecasts: how many, at most.
      def initialize(model, profile, limits:, engines:, cores:, present: nil, demand: nil, forecasts: FORECASTS)
        @model = model
        @limits = limits
        @cores = cores
        @present = present
        @demand = demand
        @margin = Margin.new(profile)
        @most = forecasts
        @grid = Grid.new(profile, engines: engines, cores: cores, limits: limits, most: present&.max_threads)
        @footprint = Footprint.new(profile)
        @ranking = Ranking.new(limits: limits, present: present)
        @outcomes = {}
      end

      # Returns Found.
      def run
        capacities
        [@present, *promising].compact.first(@most).each { |setting| outcome(setting) }
        climb
        Found.new(outcomes: ranked, demand: demand, capacities: capacities, grid: @grid, cores: @cores)
      end

      # The Outcome of +setting+ under the demand.
      def outcome(setting)
        @outcomes[setting] ||= Outcome.predicted(@model.forecast(setting, demand, cores: @cores), @margin)
      end

      # What users ask for: the target rate, or as much as leaves room.
      def demand
        @demand ||= Demand.open(@limits.rate || (fitting.values.max * Ranking::ROOM))
      end

      # Setting => requests per second.
      def capacities
        @capacities ||= @grid.settings.to_h { |setting| [setting, @model.capacity(setting, cores: @cores).first] }
      end

      private

      # The capacities of the settings that have room; of all, if none has.
      def fitting
        @fitting ||= roomy.empty? ? capacities : capacities.slice(*roomy)
      end

      def roomy
        @roomy ||= capacities.keys.select { |setting| @footprint.within?(setting, @limits) }
      end

      # Of each engine and number of workers, the least threads that reach enough. An engine that never reaches enough
      # is there with its best setting, and where nothing has room the lightest one is, too.
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
        [fitting[setting], *wanted].min
      end

      def sufficient
        @sufficient ||= [fitting.values.max * ENOUGH, *wanted].min
      end

      # The target rate with room to spare, or nil.
      def wanted
        @limits.rate && (@limits.rate / Ranking::ROOM)
      end

      # Forecasts the neighbours of the best setting until it stays the best.
      def climb
        until @outcomes.length >= @most
          new = @grid.around(ranked.first.setting).select { |each| fitting.key?(each) && !@outcomes.key?(each) }
          break if new.empty?

          new.first(@most - @outcomes.length).each { |setting| outcome(setting) }
        end
      end

      def ranked
        @ranking.order(@outcomes.values)
      end
    end
  end
end
