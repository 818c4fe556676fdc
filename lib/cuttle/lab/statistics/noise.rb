# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # How much runs vary, learnt from a whole lab: 3 blocks say little about the variance of one comparison, but 20
      # comparisons of 3 blocks say much about what is usual. An empirical Bayes prior of variances, scaled inverse
      # chi-square (Smyth 2004): the more alike they are, the more degrees of freedom it is worth; where they differ
      # widely it is worth next to nothing.
      class Noise
        ENOUGH = 6 # variances: of fewer nothing is learnt

        # variance, and the degrees of freedom it is worth.
        attr_reader :variance, :degrees

        # Of independent [variance, degrees of freedom] pairs.
        def self.of(variances)
          known = variances.select { |variance, degrees| variance.positive? && degrees >= 1 }
          return NONE if known.length < ENOUGH

          excess = excess(known)
          excess.positive? ? varied(known, excess) : pooled(known)
        end

        # How much more their logarithms vary than those of one variance would.
        def self.excess(known)
          Load::Statistics.deviation(logs(known))**2 -
            Load::Statistics.mean(known.map { |_, degrees| Gamma.trigamma(degrees / 2.0) })
        end

        # Logarithms, without the bias that few degrees of freedom give them.
        def self.logs(known)
          known.map { |variance, degrees| Math.log(variance) - bias(degrees) }
        end

        def self.bias(degrees)
          Gamma.digamma(degrees / 2.0) - Math.log(degrees / 2.0)
        end

        def self.pooled(known)
          total = known.sum(&:last)
          new(known.sum { |variance, degrees| variance * degrees } / total, total)
        end

        # Worth no more than all that was seen.
        def self.varied(known, excess)
          degrees = [2 * Gamma.inverse_trigamma(excess), known.sum(&:last)].min
          new(Math.exp(Load::Statistics.mean(logs(known)) + bias(degrees)), degrees)
        end

        private_class_method :excess, :logs, :bias, :pooled, :varied

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
