# frozen_string_literal: true

module Cuttle
  module Load
    # Statistics of runs: pure functions of Arrays of numbers.
    module Statistics
      autoload :Beta, "cuttle/load/statistics/functions"
      autoload :Gamma, "cuttle/load/statistics/functions"
      autoload :Normal, "cuttle/load/statistics/student"
      autoload :Power, "cuttle/load/statistics/student"
      autoload :Search, "cuttle/load/statistics/functions"
      autoload :Student, "cuttle/load/statistics/student"

      module_function

      # The +share+ quantile (0..1), interpolated between neighbours (type 7 of Hyndman and Fan).
      def quantile(values, share)
        sorted = values.sort
        place = share * (sorted.length - 1)
        index = place.floor
        below = sorted[index]
        below + (sorted[place.ceil] - below) * (place - index)
      end

      def median(values)
        quantile(values, 0.5)
      end

      def mean(values)
        values.sum.fdiv(values.length)
      end

      # The standard deviation of a sample: divides by n - 1.
      def deviation(values)
        center = mean(values)
        Math.sqrt(values.sum { |value| (value - center)**2 } / (values.length - 1))
      end

      # The median distance from the median.
      def spread(values)
        center = median(values)
        median(values.map { |value| (value - center).abs })
      end

      # Bootstrap intervals of +confidence+ (Efron's percentile method) for the numbers that the block computes from
      # resamples of two samples, whose sizes are +one+ and +other+. The block gets two Arrays of indexes. Returns
      # [[low, high], …]. The same call gives the same resamples.
      def bootstrap(one, other, resamples: 1000, confidence: 0.95)
        rows = picks(one, other, resamples).map { |picked| yield(*picked) }
        rows.transpose.map { |values| middle(values, confidence) }
      end

      # [low, high]: the share +confidence+ of +values+ lies between them, and as many below as above.
      def middle(values, confidence)
        tail = (1 - confidence) / 2
        sorted = values.sort
        [quantile(sorted, tail), quantile(sorted, 1 - tail)]
      end

      # The confidence to use in the percentile method so that its intervals have +confidence+. Intervals of few values
      # are too narrow: resamples vary by (n-1)/n, and follow the normal distribution instead of Student's. The expanded
      # percentile interval (Hesterberg 2015) moves the tails outward by exactly that. count: number of values, at least
      # 2; of two samples, the smaller number.
      def expanded(confidence, count)
        reach = Math.sqrt(count / (count - 1.0)) * Student.critical(1 - confidence, count - 1)
        1 - 2 * Normal.below(-reach)
      end

      SMALL = 40 # values

      # The resamples. Those of small samples are cached, because a report needs the same many times.
      def picks(one, other, resamples)
        @picks ||= {}
        @picks.fetch([one, other, resamples]) do |key|
          random = Random.new(1)
          drawn = Array.new(resamples) { [resample(one, random), resample(other, random)].freeze }
          @picks[key] = drawn if one + other <= SMALL
          drawn
        end
      end

      def resample(length, random)
        Array.new(length) { random.rand(length) }.freeze
      end

      # The Kolmogorov-Smirnov distance of +values+ from a distribution function (the block), and the probability that
      # chance gives one as large (Stephens' form of the asymptotic distribution): [distance, p].
      def kolmogorov_smirnov(values)
        count = values.length
        distance = values.sort.each_with_index.map do |value, index|
          expected = yield value
          [expected - index.fdiv(count), (index + 1).fdiv(count) - expected].max
        end.max
        root = Math.sqrt(count)
        [distance, kolmogorov((root + 0.12 + 0.11 / root) * distance)]
      end

      # P(K > x) of Kolmogorov's distribution.
      def kolmogorov(x)
        return 1.0 if x < 0.2

        (2 * (1..100).sum { |k| (-1)**(k - 1) * Math.exp(-2 * k * k * x * x) }).clamp(0.0, 1.0)
      end
    end
  end
end
