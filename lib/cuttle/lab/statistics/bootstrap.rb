# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The bootstrap by block: whole blocks are drawn, since what lies within one is not independent. The percentile
      # interval of few blocks is too narrow (resamples vary by (n-1)/n, and by the normal distribution rather than
      # Student's); its tails are moved outward by just that: the expanded percentile interval of Hesterberg (2015).
      module Bootstrap
        ROUNDS = 2000

        module_function

        # An Estimate of what the block makes of an Array of blocks. Below 2 blocks it has no interval. seed: the same
        # for the same result each time.
        def estimate(blocks, confidence: CONFIDENCE, rounds: ROUNDS, seed: 1)
          value = yield blocks
          return Estimate.new(value, nil, nil, blocks.length) if blocks.length < 2

          options = { rounds: rounds, confidence: 1 - 2 * tail(blocks.length, confidence), random: Random.new(seed) }
          resampled = Load::Statistics.bootstrap(blocks.length, 0, **options) do |picked,|
            [yield(blocks.values_at(*picked))]
          end
          Estimate.new(value, *resampled.first, blocks.length)
        end

        # The share of resamples to leave on each side.
        def tail(count, confidence)
          reach = Math.sqrt(count / (count - 1.0)) * Student.critical(1 - confidence, count - 1)
          Normal.below(-reach)
        end
      end
    end
  end
end
