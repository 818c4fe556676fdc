# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The shift between two samples: the median of all differences (Hodges and Lehmann, 1963). Its interval holds
      # the shifts that the Mann-Whitney test would not reject (Moses): no bound where so few values can reject none.
      module HodgesLehmann
        module_function

        def estimate(a, b, confidence: CONFIDENCE)
          differences = a.product(b).map { |one, other| other - one }.sort
          place = place(a.length, b.length, 1 - confidence)
          low, high = place ? [differences[place - 1], differences[-place]] : [nil, nil]
          Estimate.new(Load::Statistics.median(differences), low, high, a.length + b.length)
        end

        # Which difference from either end bounds the interval, counted from 1; nil where there is none.
        def place(one, other, level)
          place = one + other <= MannWhitney::EXACT ? exact(one, other, level) : normal(one, other, level)
          place if place.positive?
        end

        # How many of the smallest values of U are together rarer than half the level.
        def exact(one, other, level)
          counts = MannWhitney.rank_sums((1..one + other).to_a, one)
          allowed = level / 2 * counts.values.sum
          counts.sort.map(&:last).take_while { |count| (allowed -= count) >= 0 }.length
        end

        def normal(one, other, level)
          deviation = Math.sqrt(one * other * (one + other + 1) / 12.0)
          (one * other / 2.0 - Normal.critical(level) * deviation).floor
        end
      end
    end
  end
end
