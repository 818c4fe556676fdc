# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The variation of runs, estimated from a whole lab. 3 rounds show little about the variance of one comparison,
      # but 20 comparisons of 3 rounds show much about the usual variance. This is an empirical Bayes prior for
      # variances, scaled inverse chi-square (Smyth 2004): the more alike the variances are, the more degrees of freedom
      # it has. If they differ widely, it has almost none. It errs on the safe side, for two reasons: a noisy baseline
      # is part of every comparison, and few variances may look more alike than they are.
      class Noise
        ENOUGH = 6 # least number of variances for a prior

        # The variance, and its degrees of freedom.
        attr_reader :variance, :degrees

        # From pairs of [variance, degrees of freedom]. repeats: the largest number of them that come from the same
        # starts of servers, for example under several loads; these count as one.
        def self.of(variances, repeats: 1)
          known = variances.select { |variance, degrees| variance.positive? && degrees >= 1 }
          independent = known.length.fdiv(repeats)
          return NONE if independent < ENOUGH

          excess = excess(known)
          most = known.sum(&:last).fdiv(repeats)
          new(middle(known, excess), [degrees(cautious(excess, known, independent)), most].min)
        end

        # How much more the logarithms vary than they would with a single variance; at least 0.
        def self.excess(known)
          [Load::Statistics.deviation(logs(known))**2 - expected(known, :trigamma), 0.0].max
        end

        # +excess+ plus its standard error.
        def self.cautious(excess, known, independent)
          variance = excess + expected(known, :trigamma)
          excess + Math.sqrt((expected(known, :pentagamma) + 2 * variance**2) / independent)
        end

        def self.expected(known, function)
          Load::Statistics.mean(known.map { |_, degrees| Gamma.public_send(function, degrees / 2.0) })
        end

        # The variances' logarithms, corrected for the bias of few degrees of freedom.
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

        # Moderates a variance and its degrees of freedom, and returns both. The result is never below the own variance,
        # so an unusually noisy thing does not look quiet. The further it is above the usual variance, the less weight
        # the prior has.
        def moderate(own, own_degrees)
          together = (degrees * variance + own_degrees * own) / (degrees + own_degrees)
          return [together, degrees + own_degrees] if own <= together

          [own, own_degrees + (degrees * together / own)]
        end

        # The noise of the difference of two things, from the [variance, degrees] of each (see Layout).
        def pair(one, other)
          variances, degrees = [one, other].map { |spread| moderate(*spread) }.transpose
          shares = variances.zip(degrees).sum { |variance, each| variance**2 / each }
          Pair.new(variances.sum, shares.positive? ? variances.sum**2 / shares : degrees.sum) # Satterthwaite's
        end

        # A noise that replaces the estimate from the pair's own rounds.
        Pair = Struct.new(:variance, :degrees) do
          def moderate(_own, _own_degrees)
            to_a
          end
        end
        private_constant :Pair

        # No prior knowledge: plain Student's t.
        NONE = new(0.0, 0)
      end
    end
  end
end
