# frozen_string_literal: true

module Cuttle
  module Lab
    # Statistics of few runs: pure functions of Arrays of numbers. Load::Statistics has the general ones.
    #
    # Rule: one value is one start of a server, and there are few (3 to 10). So intervals are Student's on logarithms,
    # which are valid for such numbers. The bootstrap is used only where it is valid too. A bound that so few values
    # can't give is nil, never a guess.
    module Statistics
      autoload :Bootstrap, "cuttle/lab/statistics/intervals"
      autoload :Layout, "cuttle/lab/statistics/layout"
      autoload :Noise, "cuttle/lab/statistics/noise"
      autoload :Paired, "cuttle/lab/statistics/paired"
      autoload :Ranks, "cuttle/lab/statistics/intervals"

      Beta = Load::Statistics::Beta
      Gamma = Load::Statistics::Gamma
      Power = Load::Statistics::Power
      Student = Load::Statistics::Student

      # A value with its confidence interval. low and high are nil if there are too few values. count: the number of
      # values.
      Estimate = Struct.new(:value, :low, :high, :count) do
        def interval?
          !low.nil? && !high.nil?
        end
      end

      CONFIDENCE = 0.95
      # With fewer values, no bootstrap interval of a median covers 95%: the widest one, from the smallest value to the
      # greatest, misses the median with probability 2 / 2**n.
      BOOTSTRAPPED = 6

      # Holm's correction (1979): whichever hypotheses are true, the chance to reject any true one is at most the level.
      # It does not assume that the tests are independent.
      module Holm
        module_function

        # Adjusted p-values, in the order of +ps+.
        def adjust(ps)
          least = 0.0
          adjusted = Array.new(ps.length)
          ps.each_index.sort_by { |index| ps[index] }.each_with_index do |index, rank|
            adjusted[index] = least = [least, [1.0, ps[index] * (ps.length - rank)].min].max
          end
          adjusted
        end

        # The level at which each of +ps+ was finally tested, while the family keeps +level+. Each rejection of another
        # hypothesis raises the level of those left.
        def levels(ps, level)
          rejected = adjust(ps).map { |p| p <= level }
          rejected.map { |own| level / (rejected.count(false) + (own ? 1 : 0)) }
        end
      end

      module_function

      def median(values)
        Load::Statistics.median(values)
      end

      # The standard error of the logarithm of a ratio of two rounded values. shares: the unit that each was rounded to,
      # divided by the value. Any error within half a unit is equally likely.
      def rounding(*shares)
        Math.hypot(*shares) / Math.sqrt(12)
      end

      # The median as an Estimate. Its interval is bootstrapped; with fewer than BOOTSTRAPPED values, it is Student's on
      # logarithms.
      def median_interval(values, confidence = CONFIDENCE)
        return Bootstrap.estimate(values, confidence: confidence) { |picked| median(picked) } if
          values.length >= BOOTSTRAPPED

        low, high = Student.interval(values, confidence)
        Estimate.new(median(values), low, high, values.length)
      end

      # A share of independent trials as an Estimate, with the interval of Clopper and Pearson (1934). Its upper bound
      # is above 0 even without a success.
      def proportion(successes, trials, confidence = CONFIDENCE)
        tail = (1 - confidence) / 2
        failures = trials - successes
        low = successes.zero? ? 0.0 : Beta.quantile(tail, successes, failures + 1)
        high = failures.zero? ? 1.0 : Beta.quantile(1 - tail, successes + 1, failures)
        Estimate.new(successes.fdiv(trials), low, high, trials)
      end

      # other / one, paired by round: an Estimate. Both are Hashes of a value by round, or Arrays in the order of
      # rounds.
      def paired_ratio(one_by_block, other_by_block, confidence: CONFIDENCE)
        Paired.of(one_by_block, other_by_block).estimate(confidence)
      end
    end
  end
end
