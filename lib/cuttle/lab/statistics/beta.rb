# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The regularized incomplete beta function, from which Student's and the binomial distribution come.
      module Beta
        TINY = 1e-300
        STEPS = 100_000 # never reached: about the root of the greater parameter is

        module_function

        # I_x(a, b), 0 to 1; DLMF 8.17.
        def regularized(x, a, b)
          return 0.0 if x <= 0
          return 1.0 if x >= 1

          scale = Math.exp(log_scale(x, a, b))
          # The fraction converges fast on this side of the mean only; the other side is its mirror.
          return scale * fraction(x, a, b) / a if x < (a + 1.0) / (a + b + 2)

          1 - scale * fraction(1 - x, b, a) / b
        end

        def log_scale(x, a, b)
          Gamma.log(a + b) - Gamma.log(a) - Gamma.log(b) + a * Math.log(x) + b * Math.log(1 - x)
        end

        # The continued fraction of DLMF 8.17.22, by Lentz's method.
        def fraction(x, a, b)
          upper = 1.0
          lower = nonzero(1 - (a + b) * x / (a + 1))
          lower = 1 / lower
          value = lower
          (1..STEPS).each do |m|
            even, odd = coefficients(m, x, a, b)
            lower, upper, value = step(even, lower, upper, value).first(3)
            lower, upper, value, factor = step(odd, lower, upper, value)
            break if (factor - 1).abs < 1e-15
          end
          value
        end

        def coefficients(m, x, a, b)
          place = a + 2 * m
          [m * (b - m) * x / ((place - 1) * place), -(a + m) * (a + b + m) * x / (place * (place + 1))]
        end

        def step(coefficient, lower, upper, value)
          lower = 1 / nonzero(1 + coefficient * lower)
          upper = nonzero(1 + coefficient / upper)
          [lower, upper, value * lower * upper, lower * upper]
        end

        def nonzero(number)
          number.abs < TINY ? TINY : number
        end
      end
    end
  end
end
