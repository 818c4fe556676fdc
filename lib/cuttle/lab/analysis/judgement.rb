# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # What a lab says of two things whose ratio it tested. Of an object with +ratio+ (an Estimate), +measure+, +p+
      # (adjusted; nil if nothing was tested) and +detectable+ (nil likewise). Its class has the LEVEL that p has to
      # reach.
      module Judgement
        # Smaller differences are not reported, however certain they are: memory layout alone can cause 1%.
        LEAST = 0.01
        # If only greater differences than this can be detected, nobody can say that the two are alike.
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
