# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # The configurations that a lab with a budget continues with. The first round shows how much time each one takes,
      # with its boots and repeated runs, and which ones are far behind. If there is no time for
      # ROUNDS rounds of all, those that are farthest behind are left out. If there is still no time for LEAST_ROUNDS,
      # others are left out too.
      #
      # Rule: the control and its original stay. A configuration that is about as good as the best is left out only to
      # make LEAST_ROUNDS possible, because one run shows little.
      class Roster
        FAR = 1.5 # the best is this many times better, under every load

        # out: ids of the configurations that were left out before. clock: in seconds.
        def initialize(plan, out: [], clock: -> { Cuttle.now })
          @plan = plan
          @clock = clock
          @seconds = {}
          @values = Hash.new { |hash, id| hash[id] = {} }
          @out = out
        end

        # Whether a configuration is still in the lab.
        def include?(configuration)
          !@out.include?(configuration.id)
        end

        # Runs the block, which measures +start+, a Plan::Start.
        def time(start)
          began = @clock.call
          yield
        ensure
          @seconds[start.configuration.id] = @clock.call - began if start.round.zero?
        end

        # Records a run, in the form of the results.
        def add(start, load, run)
          return unless start.round.zero?

          value = Analysis::Measure.of(load).value(Results::Run.new(run)) if run["valid"]
          @values[start.configuration.id][load] = value if value
        end

        # Seconds of a round with the configurations that are still in the lab.
        def seconds
          @seconds.sum { |id, seconds| @out.include?(id) ? 0 : seconds }
        end

        # Whether it can't be left out, because it is the control or the control's original.
        def stays?(configuration)
          !configuration.control_of.nil? || @plan.present.any? { |each| each.control_of == configuration.id }
        end

        def leave_out(configuration)
          @out |= [configuration.id]
        end

        # Leaves configurations out after the first round. left: seconds. most: the most rounds that are useful. Returns
        # { configuration => reason }.
        def shrink(left, most: Plan::Budget::MOST_ROUNDS)
          far, near = candidates.partition { |each| behind(each) >= FAR }
          wanted = [Plan::Budget::ROUNDS, Plan::Budget::LEAST_ROUNDS].map { |rounds| [rounds, most].min }
          drop(far, wanted[0], left).merge(drop(near, wanted[1], left))
        end

        private

        # The configurations that may be left out, the farthest behind first.
        def candidates
          @plan.present.select { |each| include?(each) && !stays?(each) }.sort_by { |each| -behind(each) }
        end

        def drop(candidates, rounds, left)
          candidates.each_with_object({}) do |configuration, out|
            break out if seconds * (rounds - 1) <= left || remaining <= Plan::Budget::LEAST_CONFIGURATIONS

            leave_out(configuration)
            out[configuration] = reason(configuration)
          end
        end

        def remaining
          @plan.present.count { |each| include?(each) }
        end

        def reason(configuration)
          behind = behind(configuration)
          return "nothing was measured" if behind.infinite?

          format("%.1f times behind the best", behind)
        end

        # The factor by which the best is better, under the load with the smallest factor.
        def behind(configuration)
          factors = @plan.loads_of(configuration).filter_map { |load| factor(configuration, load) }
          factors.min || Float::INFINITY
        end

        def factor(configuration, load)
          own = @values[configuration.id][load]
          measure = Analysis::Measure.of(load)
          best = @values.values.filter_map { |values| values[load] }.max_by { |value| measure.goodness(value) }
          return unless own&.positive? && best&.positive?

          measure.name == :rate ? best.fdiv(own) : own.fdiv(best)
        end
      end
    end
  end
end
