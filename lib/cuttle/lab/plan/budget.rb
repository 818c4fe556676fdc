# frozen_string_literal: true

module Cuttle
  module Lab
    class Plan
      # Fits a lab into its time budget and lists what was cut. First it shortens runs. If too few rounds fit even then,
      # it leaves out configurations: few rounds of many configurations show nothing, because intervals are computed
      # from starts of servers. If the fewest configurations don't fit either, runs have fewer requests than they need.
      # After the first round, Runner::Roster corrects these estimates.
      class Budget
        BOOT = 0.55 # seconds for a start and a stop, if no pilot measured it
        EXTRA = 0.1 # seconds of a run in addition to warm-up and measurement
        ROUNDS = 6 # enough to detect a difference of 10% if runs scatter by 2%
        LEAST_ROUNDS = 4
        LEAST_CONFIGURATIONS = 3 # two configurations and the control
        LEAST_DURATION = 0.4
        LEAST_WARMUP = 0.2
        LEAST_REQUESTS = 10 # of each slot, in a run: the end of a run cuts off those under way, up to one of each slot
        MOST_ROUNDS = 50

        # starts: the number of configurations to keep.
        attr_reader :starts, :rounds, :duration, :warmup, :cut

        # starts: number of configurations in a round. loads: loads of each. boot: seconds for a start and a stop. slot:
        # seconds that a request takes a slot. response: mean seconds of a response, over the loads. spent: seconds of
        # the budget already used.
        def initialize(options, starts:, loads:, boot: nil, slot: 0, response: 0, spent: 0)
          @options = options
          @starts = [starts, 1].max
          @loads = loads
          @boot = boot || BOOT
          @slot = slot
          @extra = EXTRA + (2 * response) # warm-up and measurement end with the last response
          @spent = spent
          @budget = options.budget && (options.budget - spent)
          @rounds = options.rounds || ROUNDS
          @duration = options.given?(:duration) ? options.duration : [options.duration, enough].max
          @warmup = options.warmup
          @cut = []
        end

        # Raises Failure if a run would be shorter than a request.
        def fit
          fit_in_time if @budget
          fail_if_too_short
          self
        end

        # Seconds for the whole lab.
        def estimate(rounds: @rounds, starts: @starts)
          rounds * starts * (@boot + (@loads * (@warmup + @duration + @extra)))
        end

        private

        def fit_in_time
          shorten
          leave_out
          leave_out_requests
          count_rounds
        end

        # Seconds of a run with enough requests.
        def enough
          (LEAST_REQUESTS * @slot).ceil(2)
        end

        def least_rounds
          [LEAST_ROUNDS, @rounds].min
        end

        def shorten
          least = [LEAST_DURATION, enough].max
          wanted = [@duration, @warmup]
          nil while estimate > @budget && (shorter?(:duration, least) | shorter?(:warmup, LEAST_WARMUP))
          shortened = %w[run warm-up].zip(wanted, [@duration, @warmup]).select { |_, before, now| now < before }
          return if shortened.empty?

          @cut << shortened.map { |what, before, now| "#{say(before - now)} of each #{what}'s #{say(before)}" }
                           .join(", and ")
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
          @starts -= 1 while estimate(rounds: least_rounds) > @budget && @starts > LEAST_CONFIGURATIONS
          return if @starts == wanted

          @cut << "#{wanted - @starts} of #{wanted} configurations: name fewer, or increase --budget"
        end

        def leave_out_requests
          @needed = estimate(rounds: least_rounds) + @spent
          nil while estimate(rounds: least_rounds) > @budget && shorter?(:duration, LEAST_DURATION)
          return if @options.given?(:duration) || @duration >= enough

          @cut << "requests: in runs of #{say(@duration)} each slot answers about #{(@duration / @slot).floor}, and " \
                  "#{LEAST_REQUESTS} would be enough; #{advice}"
        end

        # Without responses until its end, a run has a rate of 0.
        def fail_if_too_short
          return if @duration > @slot

          raise Failure, "a request takes #{say(@slot)} here, and runs are only #{say(@duration)} long: #{advice}"
        end

        def advice
          return "increase --duration" if @options.given?(:duration)

          "increase --budget to about #{say((@needed / 10).ceil * 10)}"
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
