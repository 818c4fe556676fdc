# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The logarithm of the gamma function and its derivatives, for positive numbers.
      module Gamma
        FAR = 10 # from here the asymptotic series (DLMF 5.11.2 and its derivative) give all digits of a Float

        module_function

        def log(x)
          Math.lgamma(x).first
        end

        # The first derivative.
        def digamma(x)
          return digamma(x + 1) - 1.0 / x if x < FAR

          square = 1.0 / (x * x)
          Math.log(x) - 0.5 / x -
            square * (1 / 12.0 - square * (1 / 120.0 - square * (1 / 252.0 - square * (1 / 240.0 - square / 132))))
        end

        # The second.
        def trigamma(x)
          return trigamma(x + 1) + 1.0 / (x * x) if x < FAR

          square = 1.0 / (x * x)
          (1 + 0.5 / x +
            square * (1 / 6.0 - square * (1 / 30.0 - square * (1 / 42.0 - square * (1 / 30.0 - square * 5 / 66))))) / x
        end

        # The fourth.
        def pentagamma(x)
          return pentagamma(x + 1) + 6.0 / x**4 if x < FAR

          square = 1.0 / (x * x)
          (2 + 3.0 / x + square * (2 - square * (1 - square * (4 / 3.0 - square * 3)))) / x**3
        end

        # The x whose trigamma is +value+, which is positive.
        def inverse_trigamma(value)
          Search.real { |x| trigamma(x) <= value }
        end
      end
    end
  end
end
