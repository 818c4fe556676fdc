# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      class Changes
        # The ratio of two samples of positive values.
        class Shift
          # rounding: as of Statistics::Paired.
          def initialize(one, other, rounding)
            @rounding = rounding
            @samples = [one, other].map { |values| values.map { |value| Math.log(value) } }
            @mean = Load::Statistics.mean(@samples[1]) - Load::Statistics.mean(@samples[0])
            @degrees = @samples.sum(&:length) - 2
          end

          # An Estimate; without an interval if a sample has a single value.
          def ratio
            reach = Statistics::Student.critical(1 - CONFIDENCE, @degrees) * error if tested?
            bounds = reach ? [Math.exp(@mean - reach), Math.exp(@mean + reach)] : [nil, nil]
            Statistics::Estimate.new(Math.exp(@mean), *bounds, @samples.sum(&:length))
          end

          # Not adjusted; nil if a sample has a single value.
          def p
            return unless tested?
            return 1.0 if error.zero?

            Statistics::Student.two_sided(@mean / error, @degrees)
          end

          # The smallest difference of the ratio from 1 that is detected at +level+. Both samples must have several
          # values.
          def detectable(level)
            Math.exp(Statistics::Power.noncentrality(@degrees, level, POWER) * error) - 1
          end

          private

          def tested?
            @samples.all? { |values| values.length > 1 }
          end

          # The standard error of the difference of the means, with pooled variance, and never below the rounding's.
          def error
            squares = @samples.sum { |values| (Load::Statistics.deviation(values)**2) * (values.length - 1) }
            [Math.sqrt(squares / @degrees * @samples.sum { |values| 1.0 / values.length }), @rounding].max
          end
        end
      end
    end
  end
end
