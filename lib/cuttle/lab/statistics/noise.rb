# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # How much runs vary, learnt from a whole lab: 3 blocks say little about the variance of one comparison, but 20
      # comparisons of 3 blocks say much about what is usual. An empirical Bayes prior of variances, scaled inverse
      # chi-square (Smyth 2004): the more alike they are, the more degrees of freedom it is worth; where they differ
      # widely it is worth next to nothing. It errs to the safe side: a reference that is far more restless than the
      # rest is in every comparison, and few variances may look more alike than they are.
      class Noise
        ENOUGH = 6 # variances: of fewer nothing is learnt

        # variance, and the degrees of freedom it is worth.
        attr_reader :variance, :degrees

        # Of [variance, degrees of freedom] pairs. Where some come of the same starts of servers, as under several
        # loads, +repeats+ says how many at most: they count as one.
        def self.of(variances, repeats: 1)
          known = variances.select { |variance, degrees| variance.positive? && degrees >= 1 }
          independent = known.length.fdiv(repeats)
          return NONE if independent < ENOUGH

          excess = excess(known)
          most = known.sum(&:last).fdiv(repeats)
          new(middle(known, excess), [degrees(cautious(excess, known, independent)), most].min)
        end

        # How much more the logarithms vary than those of one variance would. 0 where they vary less.
        def self.excess(known)
          [Load::Statistics.deviation(logs(known))**2 - expected(known, :trigamma), 0.0].max
        end

        # +excess+ and its standard error.
        def self.cautious(excess, known, independent)
          variance = excess + expected(known, :trigamma)
          excess + Math.sqrt((expected(known, :pentagamma) + 2 * variance**2) / independent)
        end

        def self.expected(known, function)
          Load::Statistics.mean(known.map { |_, degrees| Gamma.public_send(function, degrees / 2.0) })
        end

        # Logarithms, without the bias that few degrees of freedom give them.
        def self.logs(known)
          known.map { |variance, degrees| Math.log(variance) - bias(degrees) }
        end

        def self.bias(degrees)
          Gamma.digamma(degrees / 2.0) - Math.log(degrees / 2.0)
        end

        # The prior's variance.
        def self.middle(known, excess)
          Math.exp(Load::Statistics.mean(logs(known)) + (excess.positive? ? bias(degrees(excess)) : 0))
        end

        def self.degrees(excess)
          2 * Gamma.inverse_trigamma(excess)
        end

        private_class_method :excess, :cautious, :expected, :logs, :bias, :middle, :degrees

        def initialize(variance, degrees)
          @variance = variance
          @degrees = degrees
          freeze
        end

        # [variance, degrees] of a comparison whose own are these. Never less than its own: what is unusually restless
        # must not be made to look calm.
        def moderate(own, own_degrees)
          together = (degrees * variance + own_degrees * own) / (degrees + own_degrees)
          [[own, together].max, degrees + own_degrees]
        end

        # Nothing known: Student's t as it is.
        NONE = new(0.0, 0)
      end
    end
  end
end
