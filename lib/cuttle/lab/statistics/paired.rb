# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Two things measured in the same rounds, as logarithms of their ratios, other / one. A round's effects on both
      # cancel out. The test is Student's t: with 5 pairs no rank test can reach 5% (2 / 2**5). If both are the same and
      # their order is random, the differences are symmetric, and t errs on the safe side. A Noise moderates the
      # variance. rounding: the standard error of the ratio's logarithm that the precision of the values causes. It may
      # be the same in every round, so the error of the mean is never below it.
      class Paired
        attr_reader :logs

        # Takes Hashes of a value by round, or Arrays in the order of rounds. Only rounds in which both are positive
        # count.
        def self.of(one, other, noise: Noise::NONE, rounding: 0.0)
          one, other = [one, other].map { |values| by_block(values) }
          blocks = (one.keys & other.keys).select { |block| one[block]&.positive? && other[block]&.positive? }
          new(blocks.map { |block| Math.log(other[block].fdiv(one[block])) }, noise, rounding)
        end

        def self.by_block(values)
          values.is_a?(Hash) ? values : values.each_with_index.to_h { |value, block| [block, value] }
        end

        def initialize(logs, noise = Noise::NONE, rounding = 0.0)
          @logs = logs.freeze
          @noise = noise
          @rounding = rounding
          @variance, @degrees = noise.moderate(own_variance, count - 1) if count > 1
          freeze
        end

        def count
          logs.length
        end

        # Its own [variance, degrees of freedom]; nil for fewer than two pairs.
        def spread
          [own_variance, count - 1] if count > 1
        end

        # The ratio (a geometric mean) as an Estimate; nil without pairs.
        def estimate(confidence = CONFIDENCE)
          return if logs.empty?
          return Estimate.new(Math.exp(mean), nil, nil, count) if count < 2

          reach = Student.critical(1 - confidence, @degrees) * error
          Estimate.new(Math.exp(mean), Math.exp(mean - reach), Math.exp(mean + reach), count)
        end

        # The probability that chance gives a ratio as far from 1; nil for fewer than two pairs. Ratios that are all the
        # same, of values whose precision is unknown, say nothing about chance.
        def p
          return if count < 2
          return 1.0 if error.zero?

          Student.two_sided(mean / error, @degrees)
        end

        # The smallest difference of the ratio from 1 that would be detected (0.04 for 4%), or nil.
        def detectable(level:, power: 0.9)
          return if count < 2

          Math.exp(Power.noncentrality(@degrees, level, power) * error) - 1
        end

        # one / other.
        def inverse
          Paired.new(logs.map(&:-@), @noise, @rounding)
        end

        private

        def mean
          Load::Statistics.mean(logs)
        end

        def own_variance
          Load::Statistics.deviation(logs)**2
        end

        def error
          [Math.sqrt(@variance / count), @rounding].max
        end
      end
    end
  end
end
