# frozen_string_literal: true

module Cuttle
  module Load
    module Statistics
      # Student's distribution, and its intervals.
      module Student
        module_function

        # P(|T| > |t|) with +degrees+ of freedom.
        def two_sided(t, degrees)
          return 0.0 if t.infinite?

          Beta.regularized(degrees / (degrees + t * t.to_f), degrees / 2.0, 0.5)
        end

        # The t that |T| exceeds with probability +level+. Results are cached, because a report needs the same few many
        # times.
        def critical(level, degrees)
          @critical ||= {}
          @critical[[level, degrees]] ||= Search.root { |t| level - two_sided(t, degrees) }
        end

        # [low, high] of the centre of +values+. It uses logarithms if all are positive, because disturbances change a
        # run by a factor. Without a negative value, no bound is negative. [nil, nil] for fewer than two values.
        def interval(values, confidence)
          return [nil, nil] if values.length < 2
          return plain(values.map { |value| Math.log(value) }, confidence).map { |bound| Math.exp(bound) } if
            values.all?(&:positive?)

          bounds = plain(values, confidence)
          values.any?(&:negative?) ? bounds : bounds.map { |bound| [bound, 0.0].max }
        end

        def plain(values, confidence)
          center = Statistics.mean(values)
          reach = critical(1 - confidence, values.length - 1) * error(values)
          [center - reach, center + reach]
        end

        # The standard error of the mean.
        def error(values)
          Statistics.deviation(values) / Math.sqrt(values.length)
        end
      end

      # The normal distribution.
      module Normal
        module_function

        # P(Z < z)
        def below(z)
          Math.erfc(-z / Math.sqrt(2)) / 2
        end
      end

      # The power of t-tests, by the noncentral t distribution.
      module Power
        PIECES = 400 # of Simpson's rule: even

        module_function

        # The smallest mean of +count+ differences with +deviation+ that a two-sided t-test at +level+ detects with
        # +power+, in the unit of +deviation+; nil for fewer than 2. degrees: the degrees of freedom of +deviation+.
        def detectable(deviation, count, level:, power:, degrees: count - 1)
          return if count < 2
          return 0.0 if deviation.zero?

          noncentrality(degrees, level, power) * deviation / Math.sqrt(count)
        end

        # The smallest shift, in standard errors, that is detected with +power+. Results are cached, as in
        # Student.critical.
        def noncentrality(degrees, level, power)
          @noncentrality ||= {}
          @noncentrality[[degrees, level, power]] ||= begin
            critical = Student.critical(level, degrees)
            pieces = pieces(degrees)
            Search.root(critical) { |shift| above(critical, pieces, shift) - power }
          end
        end

        # P(T > t) for T = (Z + shift) / s, where degrees * s**2 is chi-square: over all s, by Simpson's rule.
        def above(t, pieces, shift)
          pieces.sum { |s, share| share * Normal.below(shift - t * s) }
        end

        # [s, its weight] for each point of the rule.
        def pieces(degrees)
          width = (1 + 9 / Math.sqrt(degrees)) / PIECES # less than exp(-40) lies beyond
          (0..PIECES).map { |place| [place * width, width / 3 * weight(place) * density(place * width, degrees)] }
        end

        def weight(place)
          return 1 if place.zero? || place == PIECES

          place.odd? ? 4 : 2
        end

        # The density of s.
        def density(s, degrees)
          return degrees == 1 ? Math.sqrt(2 / Math::PI) : 0.0 if s.zero?

          half = degrees / 2.0
          Math.exp(Math.log(2) + half * Math.log(half) - Gamma.log(half) +
                   (degrees - 1) * Math.log(s) - half * s * s)
        end
      end
    end
  end
end
