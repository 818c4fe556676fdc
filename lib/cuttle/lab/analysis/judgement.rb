# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Decides whether two things differ whose ratio was tested. The including class has +ratio+ (an Estimate),
      # +measure+, +p+ (adjusted) and +detectable+; the last two are nil if nothing was tested. Its constant LEVEL is
      # the highest p of a difference.
      module Judgement
        # Smaller differences are not reported, however certain they are: memory layout alone can cause 1%.
        LEAST = 0.01
        # If only greater differences than this can be detected, the two can't be called alike.
        COARSE = 0.25

        def different?
          !p.nil? && p <= self.class::LEVEL && Math.log(ratio.value).abs >= Math.log(1 + LEAST)
        end

        # Whether there were too few rounds, or too noisy ones, to decide: no difference is proved, but a considerable
        # one appeared or could have been missed.
        def undecided?
          !different? && (detectable.nil? || [detectable, Math.exp(Math.log(ratio.value).abs) - 1].max > COARSE)
        end

        # Whether the first of the two is measurably better.
        def better?
          different? && measure.goodness(ratio.value) > measure.goodness(1)
        end
      end
    end
  end
end
