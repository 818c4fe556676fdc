# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The bootstrap over independent values or blocks of values. Values within a block need not be independent.
      module Bootstrap
        RESAMPLES = 2000

        module_function

        # An Estimate of the statistic that the Ruby block computes from an Array of blocks. With fewer than 2 blocks
        # there is no interval. The same blocks give the same result.
        def estimate(blocks, confidence: CONFIDENCE, resamples: RESAMPLES)
          value = yield blocks
          return Estimate.new(value, nil, nil, blocks.length) if blocks.length < 2

          found = Load::Statistics.picks(blocks.length, 0, resamples).map { |picked,| yield blocks.values_at(*picked) }
          bounds = Load::Statistics.middle(found, Load::Statistics.expanded(confidence, blocks.length))
          Estimate.new(value, *bounds, blocks.length)
        end
      end

      # Intervals of percentiles by the ranks of the values, for any distribution: the number of values below the true
      # percentile is binomial.
      module Ranks
        module_function

        # The +percentile+ of a Load::Histogram in nanoseconds, as an Estimate; nil for an empty one. The interval
        # covers only chance within the recorded values, not the variation between starts of a server.
        def estimate(histogram, percentile, confidence = CONFIDENCE)
          return if histogram.count.zero?

          low, high = ranks(histogram.count, percentile / 100.0, confidence)
          Estimate.new(histogram.value_at(percentile), value(histogram, low), value(histogram, high), histogram.count)
        end

        # [low, high]: ranks (from 1) among +count+ values. With at least +confidence+, the +share+ quantile lies
        # between their values; both tails are equal. An end is nil if there are too few values on that side.
        def ranks(count, share, confidence = CONFIDENCE)
          tail = (1 - confidence) / 2
          beyond = (0..count).bsearch { |rank| at_most(rank, count, share) > tail }
          above = (1..count).bsearch { |rank| 1 - at_most(rank - 1, count, share) <= tail }
          [beyond&.positive? ? beyond : nil, above]
        end

        # P(B <= successes) for a binomial B with +count+ trials of probability +share+.
        def at_most(successes, count, share)
          successes >= count ? 1.0 : Beta.regularized(1 - share, count - successes, successes + 1)
        end

        # The +rank+th recorded value, with the precision of the histogram's slots.
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
