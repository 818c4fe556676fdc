# frozen_string_literal: true

module Bench
  # A journal's runs, summed up: medians over the rounds, and ratios between two subjects.
  class Results
    def initialize(journal)
      @runs = journal.of("run").group_by { |run| run[:name] }
    end

    # Names of the subjects that were measured.
    def names
      @runs.keys
    end

    # Round => value of one figure.
    def values(name, figure)
      @runs.fetch(name, []).to_h { |run| [run[:round], run[:figures][figure]] }.compact
    end

    # The median over the rounds, or nil.
    def median(name, figure)
      Statistics.median(values(name, figure).values)
    end

    # How many times the other's: the median of the ratios within each round, or nil.
    def ratio(name, versus, figure)
      Statistics.paired_ratio(values(name, figure), values(versus, figure))
    end

    # [first quartile, median, third quartile] over the rounds, or nil.
    def quartiles(name, figure)
      Statistics.quartiles(values(name, figure).values)
    end

    # How many times the other's, with the 95% interval by Student's t on the logarithms of the ratios within each
    # round; a Lab::Statistics::Estimate, or nil. Its low and high are nil of a single round.
    def interval(name, versus, figure)
      ::Cuttle::Lab::Statistics.paired_ratio(values(versus, figure), values(name, figure))
    end

    # The largest of the ratios of several subjects to several others; nil unless all of `names` were measured.
    def worst_ratio(names, others, figure)
      return unless (names - self.names).empty?

      names.product(others).filter_map { |name, other| ratio(name, other, figure) }.max
    end

    # Kind of error => count, over all rounds.
    def errors(name)
      @runs.fetch(name, []).map { |run| run[:figures][:errors] || {} }
           .reduce({}) { |sum, errors| sum.merge(errors) { |_kind, a, b| a + b } }
    end
  end
end
