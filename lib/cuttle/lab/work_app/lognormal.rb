# frozen_string_literal: true

module Cuttle
  module Lab
    class WorkApp
      # Uneven requests: a factor of mean 1 whose standard deviation is +cv+ times its mean, lognormally distributed, as
      # response times mostly are (many a little shorter than the mean, few much longer).
      module Lognormal
        module_function

        # +random+: what rand is asked of; Ruby's own differs between forked processes.
        def draw(cv, random = Random)
          return 1.0 if cv.zero?

          variance = Math.log(1 + cv**2) # of the logarithm
          Math.exp(Math.sqrt(variance) * normal(random) - variance / 2)
        end

        # Standard normal, by Box and Muller.
        def normal(random)
          Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
        end
      end
    end
  end
end
