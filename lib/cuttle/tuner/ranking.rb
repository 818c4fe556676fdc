# frozen_string_literal: true

module Cuttle
  module Tuner
    # Orders Outcomes, the best first. What keeps the limits comes before what doesn't. Then comes the highest capacity,
    # and of those with about the same capacity the shortest p95. Of those with about the same p95 too, the cheapest is
    # the best: a difference that can't be measured is worth no memory.
    #
    # With a target rate, capacity beyond that rate with room to spare counts for nothing.
    class Ranking
      CAPACITY = 0.03 # smaller differences are noise
      TAIL = 0.10
      MEMORY = 0.10
      ROOM = 0.7 # share of the capacity that a server should be used to

      # present: the user's Setting, or nil. Among equals its engine is kept.
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

      # The Outcomes among +outcomes+ (which keep the limits) that nothing measurable sets apart from the best.
      def equals(outcomes)
        most = outcomes.map { |outcome| useful(outcome) }.max or return []
        enough = outcomes.select { |outcome| useful(outcome) >= most * (1 - CAPACITY) }
        shortest = enough.map { |outcome| tail(outcome) }.min
        enough.select { |outcome| tail(outcome) <= shortest * (1 + TAIL) || outcome.p95.nil? }
      end

      # What makes one of several equals cheaper. Memory within noise is equal, too. Threads auto count as all that may
      # be started.
      def cost(outcome, least)
        [heavy?(outcome, least) ? outcome.memory : 0, outcome.connections || 0, strangeness(outcome),
         outcome.setting.processes, outcome.setting.most_threads || 0, outcome.setting.workers]
      end

      # In what +outcome+ is behind +other+ by more than noise: of :capacity, :p95 and :memory.
      def behind(outcome, other)
        { capacity: useful(outcome) < useful(other) * (1 - CAPACITY), p95: tail(outcome) > tail(other) * (1 + TAIL),
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
        [outcome.capacity.value, *(@limits.rate && (@limits.rate / ROOM))].min
      end

      def tail(outcome)
        outcome.p95&.value || Float::INFINITY
      end

      # The more limits are broken, and the further, the worse.
      def severity(outcome)
        outcome.excess(@limits).values.sum { |ratio| Math.log([ratio, 1e300].min) }
      end

      # Another engine than the present one, or than the default, asks more of an app.
      def strangeness(outcome)
        [@present&.engine, "hybrid"].compact.uniq.index(outcome.setting.engine) || 2
      end
    end
  end
end
