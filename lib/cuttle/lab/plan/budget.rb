# frozen_string_literal: true

module Cuttle
  module Lab
    class Plan
      # Fits a lab into the time that it may take, and says what was cut. It shortens runs first, because rounds are
      # worth more: intervals are computed from starts of servers.
      class Budget
        BOOT = 0.55 # seconds for a start and a stop, on average
        EXTRA = 0.1 # seconds of a run beside warm-up and measuring
        LEAST_ROUNDS = 3
        LEAST_DURATION = 0.4
        LEAST_WARMUP = 0.2
        MOST_ROUNDS = 50

        attr_reader :rounds, :duration, :warmup, :cut

        # starts: number of configurations in a round. loads: loads of each.
        def initialize(options, starts:, loads:)
          @options = options
          @starts = [starts, 1].max
          @loads = loads
          @rounds = options.rounds || Options::ROUNDS
          @duration = options.duration
          @warmup = options.warmup
          @cut = []
        end

        def fit
          return self unless @options.budget

          shorten
          count_rounds
          self
        end

        # Seconds for the whole lab.
        def estimate(rounds: @rounds, duration: @duration, warmup: @warmup)
          rounds * @starts * (BOOT + (@loads * (warmup + duration + EXTRA)))
        end

        private

        def shorten
          wanted = [@duration, @warmup]
          while estimate > @options.budget
            break unless shorter?(:duration, LEAST_DURATION) | shorter?(:warmup, LEAST_WARMUP)
          end
          return if wanted == [@duration, @warmup]

          duration, warmup = wanted
          @cut << "#{say(duration - @duration)} of each run's #{say(duration)}, and #{say(warmup - @warmup)} of the " \
                  "#{say(warmup)} before it"
        end

        # Whether it could be shortened. What the user asked for stays.
        def shorter?(name, least)
          value = instance_variable_get("@#{name}")
          return false if @options.given?(name) || value <= least

          instance_variable_set("@#{name}", [(value * 0.9).round(2), least].max)
          true
        end

        def count_rounds
          wanted = @rounds
          fitting = (@options.budget / estimate(rounds: 1)).floor
          @rounds = @options.rounds ? [fitting, wanted].min : [fitting, MOST_ROUNDS].min
          @rounds = [@rounds, [LEAST_ROUNDS, wanted].min].max
          @cut << "#{wanted - @rounds} of #{wanted} rounds" if @rounds < wanted
          tight if estimate > @options.budget
        end

        # Says that the budget is too small. Fewer rounds would show nothing.
        def tight
          @cut << "the end of #{@rounds} rounds, which take about #{say(estimate.ceil)}: name fewer " \
                  "configurations or loads"
        end

        def say(seconds)
          Load::Units.duration(seconds)
        end
      end
    end
  end
end
