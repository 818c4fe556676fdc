# frozen_string_literal: true

module Bench
  # The few statistics the tables are made of. Every function takes an Enumerable of numbers.
  module Statistics
    module_function

    # The middle value, or the mean of the two middle ones; nil of nothing.
    def median(values)
      sorted = values.sort
      return if sorted.empty?

      middle = sorted.size / 2
      sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
    end

    # The first quartile, the median and the third, interpolated; nil of nothing.
    def quartiles(values)
      [0.25, 0.5, 0.75].map { |share| ::Cuttle::Load::Statistics.quantile(values, share) } unless values.empty?
    end

    # How far the values lie apart: (largest - smallest) / median, as a fraction.
    def spread(values)
      middle = median(values)
      return if middle.nil? || middle.zero?

      (values.max - values.min) / middle.to_f
    end

    # The median of the ratios within each round: what a machine does to a whole round cancels out.
    # Both arguments are Hashes of round => value; rounds that only one of them has do not count.
    def paired_ratio(values, base)
      shared = values.keys & base.keys
      median(shared.reject { |round| base[round].zero? }.map { |round| values[round] / base[round].to_f })
    end
  end
end
