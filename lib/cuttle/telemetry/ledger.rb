# frozen_string_literal: true

module Cuttle
  # Reads ledgers: Hashes of phases, as Scoreboard#ledger and Server#ledger return them,
  #
  #   { app: { count: 2, sum: 3_000_000, buckets: [0, 0, …] }, … }
  #
  # with a phase's requests, the sum of their times in nanoseconds, and how many requests fell into each bucket. The
  # phases are accept, read, queue, app (cpu, gvl, gc and wait are its parts), write and total; docs/observability.md
  # explains them. A phase that a process can't measure is missing. Nothing here changes a ledger.
  module Ledger
    LEAST = 10 # the first bucket ends at this power of two, in nanoseconds
    MOST = 42  # the last but one ends at this one
    PARTS = 16 # buckets of a power of two

    # The upper bounds of the buckets in nanoseconds; a bound belongs to the bucket that it ends. ext/cuttle/ledger.h
    # has the same.
    BOUNDS = [1 << LEAST, *(LEAST...MOST).flat_map { |power| (1..PARTS).map { |part| (PARTS + part) << (power - 4) } },
              Float::INFINITY].freeze

    PHASES = %i[accept read queue app cpu gvl gc wait write total].freeze

    class << self
      # The time in seconds that the share +quantile+ (0 to 1) of a phase's requests did not exceed: the upper bound of
      # its bucket, at most 6 % too much. nil without requests.
      def quantile(phase, quantile)
        count = phase[:buckets].sum
        return if count.zero?

        rank = [(quantile * count).ceil, 1].max
        place = phase[:buckets].index { |number| (rank -= number) <= 0 }
        [BOUNDS[place], 1 << MOST].min / 1e9
      end

      # The mean in seconds; nil without requests.
      def mean(phase)
        phase[:sum] / 1e9 / phase[:count] if phase[:count].positive?
      end

      # The sum of several ledgers.
      def merge(ledgers)
        ledgers.inject({}) { |all, ledger| all.merge(ledger) { |_, one, other| combine(one, other, :+) } }
      end

      # What +now+ has counted since +before+, an earlier reading of the same ledger.
      def difference(now, before)
        now.to_h { |name, phase| [name, before[name] ? combine(phase, before[name], :-) : phase] }
      end

      # Figures of each phase for people and JSON: count, and mean, p50 and p99 in seconds (nil without requests).
      def summary(ledger)
        ledger.transform_values do |phase|
          { count: phase[:count], mean: mean(phase)&.round(9), p50: quantile(phase, 0.5), p99: quantile(phase, 0.99) }
        end
      end

      private

      def combine(one, other, operation)
        { count: one[:count].public_send(operation, other[:count]), sum: one[:sum].public_send(operation, other[:sum]),
          buckets: one[:buckets].zip(other[:buckets]).map { |pair| pair.inject(operation) } }
      end
    end
  end
end
