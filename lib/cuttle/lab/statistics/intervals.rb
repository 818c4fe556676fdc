# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The bootstrap over independent values or whole blocks of values; values within a block are not independent.
      module Bootstrap
        ROUNDS = 2000

        module_function

        # An Estimate of the statistic that the Ruby block computes from an Array of blocks. Fewer than 2 blocks have no
        # interval. The same seed gives the same result.
        def estimate(blocks, confidence: CONFIDENCE, rounds: ROUNDS, seed: 1)
          value = yield blocks
          return Estimate.new(value, nil, nil, blocks.length) if blocks.length < 2

          options = { rounds: rounds, confidence: Load::Statistics.expanded(confidence, blocks.length),
                      random: Random.new(seed) }
          resampled = Load::Statistics.bootstrap(blocks.length, 0, **options) do |picked,|
            [yield(blocks.values_at(*picked))]
          end
          Estimate.new(value, *resampled.first, blocks.length)
        end
      end

      # Intervals of percentiles by the ranks of the values, for any distribution: the number of values below the true
      # percentile is binomial.
      module Ranks
        module_function

        # The +percentile+ of a Load::Histogram in nanoseconds, as an Estimate; nil of an empty one. It only covers
        # chance within the recorded values, not between starts of a server.
        def estimate(histogram, percentile, confidence = CONFIDENCE)
          return if histogram.count.zero?

          low, high = ranks(histogram.count, percentile / 100.0, confidence)
          Estimate.new(histogram.value_at(percentile), value(histogram, low), value(histogram, high), histogram.count)
        end

        # [low, high]: ranks (from 1) of +count+ values. The +share+ quantile lies between their values with at least
        # +confidence+; both tails are equal. nil if there are too few values on that side.
        def ranks(count, share, confidence = CONFIDENCE)
          tail = (1 - confidence) / 2
          beyond = (0..count).bsearch { |rank| at_most(rank, count, share) > tail }
          above = (1..count).bsearch { |rank| 1 - at_most(rank - 1, count, share) <= tail }
          [beyond&.positive? ? beyond : nil, above]
        end

        # P(B <= successes) of a binomial B with +count+ trials of probability +share+.
        def at_most(successes, count, share)
          successes >= count ? 1.0 : Beta.regularized(1 - share, count - successes, successes + 1)
        end

        # The +rank+th recorded value, as precisely as the histogram's slots.
        def value(histogram, rank)
          return unless rank

          histogram.pairs.each_slice(2) do |slot, count|
            return Load::Histogram.highest(slot).clamp(histogram.min, histogram.max) if (rank -= count) <= 0
          end
        end
      end
    end
  end
end
