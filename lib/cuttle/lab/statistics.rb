# frozen_string_literal: true

module Cuttle
  module Lab
    # What may be said of few runs. Pure functions of Arrays of numbers; what Load::Statistics has is used from there.
    #
    # The law: one value is one start of a server, and there are few (3 to 10). So intervals are Student's on
    # logarithms, which hold at such numbers, and the bootstrap serves only where it holds as well; a bound that so few
    # values can't give is nil, never a guess.
    module Statistics
      autoload :Beta, "cuttle/lab/statistics/functions"
      autoload :Bootstrap, "cuttle/lab/statistics/intervals"
      autoload :Gamma, "cuttle/lab/statistics/functions"
      autoload :Holm, "cuttle/lab/statistics/holm"
      autoload :Noise, "cuttle/lab/statistics/noise"
      autoload :Normal, "cuttle/lab/statistics/student"
      autoload :Paired, "cuttle/lab/statistics/paired"
      autoload :Power, "cuttle/lab/statistics/student"
      autoload :Ranks, "cuttle/lab/statistics/intervals"
      autoload :Search, "cuttle/lab/statistics/functions"
      autoload :Student, "cuttle/lab/statistics/student"

      # A value and the interval it is known to. low and high are nil where there are too few values to say.
      # count: of the values it was made of.
      Estimate = Struct.new(:value, :low, :high, :count) do
        def interval?
          !low.nil? && !high.nil?
        end

        def covers?(number)
          interval? && number.between?(low, high)
        end
      end

      CONFIDENCE = 0.95
      # Below this many values no bootstrap of a median can hold 95%: its widest interval, from the smallest to the
      # greatest, misses the median with 2 / 2**n.
      BOOTSTRAPPED = 6

      module_function

      def median(values)
        Load::Statistics.median(values)
      end

      # The median with its interval: bootstrapped by block, or of fewer than BOOTSTRAPPED values by Student's t on
      # their logarithms. Returns an Estimate.
      def median_interval(values, confidence = CONFIDENCE)
        return bootstrap_by_block(values, confidence: confidence) { |blocks| median(blocks) } if
          values.length >= BOOTSTRAPPED

        low, high = Student.interval(values, confidence)
        Estimate.new(median(values), low, high, values.length)
      end

      # An Estimate of what the block makes of +blocks+, by resampling them whole (see Bootstrap).
      def bootstrap_by_block(blocks, confidence: CONFIDENCE, **options, &statistic)
        Bootstrap.estimate(blocks, confidence: confidence, **options, &statistic)
      end

      # other / one, paired by block: an Estimate. Both are Hashes of a value by block, or Arrays in blocks' order.
      def paired_ratio(one_by_block, other_by_block, confidence: CONFIDENCE)
        Paired.of(one_by_block, other_by_block).estimate(confidence)
      end

      # The values of +ps+, adjusted so that each may be held against the level of them all.
      def holm(ps)
        Holm.adjust(ps)
      end

      # The +percentile+ of a Load::Histogram, in nanoseconds, with the interval of its ranks: an Estimate. It knows
      # of chance within what was recorded only, not of that between starts of a server.
      def percentile_interval(histogram, percentile, confidence = CONFIDENCE)
        Ranks.estimate(histogram, percentile, confidence)
      end
    end
  end
end
