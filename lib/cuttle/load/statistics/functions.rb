# frozen_string_literal: true

module Cuttle
  module Load
    module Statistics
      # The logarithm of the gamma function and its derivatives, for positive numbers.
      module Gamma
        FAR = 10 # from here, the asymptotic series (DLMF 5.11.2 and its derivatives) have the precision of a Float

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

        # The second derivative.
        def trigamma(x)
          return trigamma(x + 1) + 1.0 / (x * x) if x < FAR

          square = 1.0 / (x * x)
          (1 + 0.5 / x +
            square * (1 / 6.0 - square * (1 / 30.0 - square * (1 / 42.0 - square * (1 / 30.0 - square * 5 / 66))))) / x
        end

        # The fourth derivative.
        def pentagamma(x)
          return pentagamma(x + 1) + 6.0 / x**4 if x < FAR

          square = 1.0 / (x * x)
          (2 + 3.0 / x + square * (2 - square * (1 - square * (4 / 3.0 - square * 3)))) / x**3
        end

        # The x whose trigamma is +value+, a positive number.
        def inverse_trigamma(value)
          Search.root { |x| value - trigamma(x) }
        end
      end

      # The regularized incomplete beta function, the basis of Student's and the binomial distribution.
      module Beta
        TINY = 1e-300
        STEPS = 100_000 # never reached: about the square root of the greater parameter is enough

        module_function

        # I_x(a, b), 0 to 1; DLMF 8.17.
        def regularized(x, a, b)
          return 0.0 if x <= 0
          return 1.0 if x >= 1

          scale = Math.exp(log_scale(x, a, b))
          # The fraction converges fast only on this side of the mean. The other side is its mirror image.
          return scale * fraction(x, a, b) / a if x < (a + 1.0) / (a + b + 2)

          1 - scale * fraction(1 - x, b, a) / b
        end

        # The x whose I_x(a, b) is +share+.
        def quantile(share, a, b)
          Search.root { |x| regularized(x, a, b) - share }
        end

        def log_scale(x, a, b)
          Gamma.log(a + b) - Gamma.log(a) - Gamma.log(b) + a * Math.log(x) + b * Math.log(1 - x)
        end

        # The continued fraction of DLMF 8.17.22, by Lentz's method.
        def fraction(x, a, b)
          upper = 1.0
          value = lower = 1 / nonzero(1 - (a + b) * x / (a + 1))
          factor = nil
          1.upto(STEPS) do |m|
            coefficients(m, x, a, b).each do |coefficient|
              lower = 1 / nonzero(1 + coefficient * lower)
              upper = nonzero(1 + coefficient / upper)
              value *= factor = lower * upper
            end
            break if (factor - 1).abs < 1e-15
          end
          value
        end

        def coefficients(m, x, a, b)
          place = a + 2 * m
          [m * (b - m) * x / ((place - 1) * place), -(a + m) * (a + b + m) * x / (place * (place + 1))]
        end

        def nonzero(number)
          number.abs < TINY ? TINY : number
        end
      end

      # Finds where a continuous function that grows is 0, by Chandrupatla's method (1997): interpolation where the last
      # three points allow it, otherwise halving.
      module Search
        PRECISION = 1e-15 # of the result, relative to it

        module_function

        # That number from 0, of the block's function, which is negative at 0 and must become positive.
        def root(start = 1.0)
          low, high = 0.0, start
          below = yield low
          while (above = yield high).negative?
            low, below = high, above
            high *= 2
          end
          near([high, above], [low, below]) { |point| yield point }
        end

        # The root between two points, each with its value: the +newest+ and the +other+, which has the other sign.
        def near(newest, other)
          share = 0.5
          loop do
            point = newest[0] + (share * (other[0] - newest[0]))
            value = yield point
            last = newest
            other, last = newest, other if value.negative? != newest[1].negative?
            newest = [point, value]
            best = [newest, other].min_by { |_, each| each.abs }.first
            step, width = PRECISION * best.abs, (other[0] - point).abs
            return best if value.zero? || step >= width / 2

            share = share(newest, other, last).clamp(step / width, 1 - (step / width))
          end
        end

        # How far from the newest point to the other one the next is tried.
        def share((a, fa), (b, fb), (c, fc))
          place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
          return 0.5 unless height**2 < place && (1 - height)**2 < 1 - place

          (fa / (fb - fa) * fc / (fb - fc)) + ((c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb))
        end
      end
    end
  end
end
