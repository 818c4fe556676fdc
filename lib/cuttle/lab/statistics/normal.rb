# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The normal distribution.
      module Normal
        module_function

        # P(Z < z)
        def below(z)
          Math.erfc(-z / Math.sqrt(2)) / 2
        end

        # P(|Z| > |z|)
        def two_sided(z)
          Math.erfc(z.abs / Math.sqrt(2))
        end

        # The z that |Z| exceeds with probability +level+.
        def critical(level)
          Search.real { |z| two_sided(z) <= level }
        end
      end
    end
  end
end
