# frozen_string_literal: true

module Cuttle
  module Tuner
    # Orders Outcomes, the best first. Those that keep the limits come before those that don't. Then comes the highest
    # capacity, and among those with about the same capacity the shortest p95. If the p95 is about the same too, the
    # cheapest is the best: a difference that can't be measured justifies no memory.
    #
    # With a target rate, capacity beyond that rate and some headroom does not count.
    class Ranking
      CAPACITY = 0.03 # smaller differences are noise
      TAIL = 0.10
      MEMORY = 0.10
      ROOM = 0.7 # highest share of the capacity that a server should use

      # present: the user's Setting, or nil. Among equals, its engine is preferred.
      def initialize(limits:, present: nil)
        @limits = limits
        @present = present
      end

      def order(outcomes)
        keeping, breaking = outcomes.partition { |outcome| outcome.excess(@limits).empty? }
        equals = equals(keeping)
        rest = (keeping - equals).sort_by { |outcome| [-useful(outcome), tail(outcome)] }
        cheapest_first(equals) + rest + breaking.sort_by { |outcome| severity(outcome) }
      end

      # The Outcomes among +outcomes+ (all of which keep the limits) that are not measurably different from the best.
      def equals(outcomes)
        most = outcomes.map { |outcome| useful(outcome) }.max or return []
        enough = outcomes.select { |outcome| useful(outcome) >= most * (1 - CAPACITY) }
        shortest = enough.map { |outcome| tail(outcome) }.min
        enough.select { |outcome| tail(outcome) <= shortest * (1 + TAIL) || unknown?(outcome) }
      end

      # The sort key for the costs of equals. Memory within the noise is equal. -t auto counts with all threads that it
      # may start, and comes after that number of threads.
      def cost(outcome, least)
        setting = outcome.setting
        [heavy?(outcome, least) ? outcome.memory : 0, outcome.connections || 0, strangeness(outcome),
         setting.processes, setting.most_threads || 0, setting.workers, setting.auto? ? 1 : 0]
      end

      # The measures of :capacity, :p95 and :memory by which +outcome+ is worse than +other+, by more than noise.
      def behind(outcome, other)
        { capacity: useful(outcome) < useful(other) * (1 - CAPACITY),
          p95: !unknown?(outcome) && tail(outcome) > tail(other) * (1 + TAIL),
          memory: heavy?(outcome, other.memory) }.select { |_, behind| behind }.keys
      end

      private

      def cheapest_first(outcomes)
        least = outcomes.filter_map(&:memory).min
        outcomes.sort_by { |outcome| cost(outcome, least) }
      end

      def heavy?(outcome, least)
        outcome.memory && least && outcome.memory > least * (1 + MEMORY)
      end

      def useful(outcome)
        [outcome.capacity.value, *@limits.enough].min
      end

      def tail(outcome)
        outcome.overloaded? ? Float::INFINITY : outcome.p95&.value || Float::INFINITY
      end

      def unknown?(outcome)
        outcome.p95.nil? && !outcome.overloaded?
      end

      # The number of broken limits, and by how much they are broken.
      def severity(outcome)
        outcome.excess(@limits).values.sum { |ratio| Math.log([ratio, 1e300].min) }
      end

      # A change of engine, from the present one or from the default, demands more of an app.
      def strangeness(outcome)
        [@present&.engine, "hybrid"].compact.uniq.index(outcome.setting.engine) || 2
      end
    end
  end
end
