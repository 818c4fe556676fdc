# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Intervals of percentiles by the ranks of the values, whatever their distribution: how many lie below the true
      # percentile is binomial.
      module Ranks
        module_function

        # Of the +percentile+ of a Load::Histogram. Nanoseconds; see Statistics.percentile_interval.
        def estimate(histogram, percentile, confidence = CONFIDENCE)
          return if histogram.count.zero?

          low, high = ranks(histogram.count, percentile / 100.0, confidence)
          Estimate.new(histogram.value_at(percentile), value(histogram, low), value(histogram, high), histogram.count)
        end

        # [low, high]: ranks (from 1) of +count+ values between whose values the +share+ quantile lies with at least
        # +confidence+, the rest shared by both sides. nil where there are too few values on that side.
        def ranks(count, share, confidence = CONFIDENCE)
          tail = (1 - confidence) / 2
          beyond = Search.integer(0..count) { |rank| at_most(rank, count, share) > tail }
          above = Search.integer(1..count) { |rank| 1 - at_most(rank - 1, count, share) <= tail }
          [beyond&.positive? ? beyond : nil, above]
        end

        # P(B <= successes) of a binomial B with +count+ trials of chance +share+.
        def at_most(successes, count, share)
          successes >= count ? 1.0 : Beta.regularized(1 - share, count - successes, successes + 1)
        end

        # That of the +rank+th recorded value, as finely as the histogram's slots.
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
