# frozen_string_literal: true

module Cuttle
  module Lab
    class Plan
      # Fits a lab into its time budget and lists what was cut. First it shortens runs. If too few rounds fit even then,
      # it leaves out configurations: few rounds of many configurations show nothing, because intervals are computed
      # from starts of servers. After the first round, Runner::Roster corrects these estimates.
      class Budget
        BOOT = 0.55 # seconds for a start and a stop, if no pilot measured it
        EXTRA = 0.1 # seconds of a run in addition to warm-up and measurement
        ROUNDS = 6 # enough to detect a difference of 10% if runs scatter by 2%
        LEAST_ROUNDS = 4
        LEAST_CONFIGURATIONS = 3 # two configurations and the control
        LEAST_DURATION = 0.4
        LEAST_WARMUP = 0.2
        MOST_ROUNDS = 50

        # starts: the number of configurations to keep.
        attr_reader :starts, :rounds, :duration, :warmup, :cut

        # starts: number of configurations in a round. loads: loads of each. boot: seconds for a start and a stop.
        # spent: seconds of the budget already used.
        def initialize(options, starts:, loads:, boot: nil, spent: 0)
          @options = options
          @starts = [starts, 1].max
          @loads = loads
          @boot = boot || BOOT
          @budget = options.budget && (options.budget - spent)
          @rounds = options.rounds || ROUNDS
          @duration = options.duration
          @warmup = options.warmup
          @cut = []
        end

        def fit
          return self unless @budget

          shorten
          leave_out
          count_rounds
          self
        end

        # Seconds for the whole lab.
        def estimate(rounds: @rounds, starts: @starts)
          rounds * starts * (@boot + (@loads * (@warmup + @duration + EXTRA)))
        end

        private

        def shorten
          wanted = [@duration, @warmup]
          nil while estimate > @budget && (shorter?(:duration, LEAST_DURATION) | shorter?(:warmup, LEAST_WARMUP))
          return if wanted == [@duration, @warmup]

          duration, warmup = wanted
          @cut << "#{say(duration - @duration)} of each run's #{say(duration)}, and #{say(warmup - @warmup)} of its " \
                  "warm-up's #{say(warmup)}"
        end

        # Whether the duration or warm-up could be shortened. A duration from the user stays.
        def shorter?(name, least)
          value = instance_variable_get("@#{name}")
          return false if @options.given?(name) || value <= least

          instance_variable_set("@#{name}", [(value * 0.9).round(2), least].max)
          true
        end

        def leave_out
          wanted = @starts
          least = [LEAST_ROUNDS, @rounds].min
          @starts -= 1 while estimate(rounds: least) > @budget && @starts > LEAST_CONFIGURATIONS
          return if @starts == wanted

          @cut << "#{wanted - @starts} of #{wanted} configurations: name fewer, or increase --budget"
        end

        def count_rounds
          wanted = @rounds
          fitting = (@budget / estimate(rounds: 1)).floor
          @rounds = [fitting, @options.rounds || MOST_ROUNDS].min
          @rounds = [@rounds, [LEAST_ROUNDS, wanted].min].max
          @cut << "#{wanted - @rounds} of #{wanted} rounds" if @options.rounds && @rounds < wanted
          tight if estimate > @budget
        end

        # Records that the budget is too small. Fewer rounds would show nothing.
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
