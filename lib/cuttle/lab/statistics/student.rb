# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Student's distribution, and intervals by it.
      module Student
        module_function

        # P(|T| > |t|) with +degrees+ of freedom.
        def two_sided(t, degrees)
          return 0.0 if t.infinite?

          Beta.regularized(degrees / (degrees + t * t.to_f), degrees / 2.0, 0.5)
        end

        # The t that |T| exceeds with probability +level+. Kept, because a report asks for the same few again and again.
        def critical(level, degrees)
          @critical ||= {}
          @critical[[level, degrees]] ||= Search.real { |t| two_sided(t, degrees) <= level }
        end

        # [low, high] of the middle of +values+: on their logarithms where all are positive, since what disturbs a
        # run does so by a share of it. [nil, nil] of fewer than two.
        def interval(values, confidence)
          return [nil, nil] if values.length < 2
          return plain(values, confidence) unless values.all?(&:positive?)

          plain(values.map { |value| Math.log(value) }, confidence).map { |bound| Math.exp(bound) }
        end

        def plain(values, confidence)
          center = Load::Statistics.mean(values)
          reach = critical(1 - confidence, values.length - 1) * error(values)
          [center - reach, center + reach]
        end

        # The standard error of the mean.
        def error(values)
          Load::Statistics.deviation(values) / Math.sqrt(values.length)
        end
      end
    end
  end
end
