# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The Mann-Whitney test (Wilcoxon's rank sum). Exact for few values, ties or not: every way to deal the ranks
      # out is counted. For more the normal approximation, with its corrections for ties and continuity.
      module MannWhitney
        EXACT = 20 # values in both samples

        module_function

        def p(a, b)
          a.length + b.length <= EXACT ? exact(a, b) : normal(a, b)
        end

        # The share of all deals whose rank sum is as far from the middle.
        def exact(a, b)
          ranks = doubled_ranks(a + b)
          middle = a.length * (ranks.length + 1)
          distance = (ranks.first(a.length).sum - middle).abs
          counts = rank_sums(ranks, a.length)
          counts.sum { |sum, count| (sum - middle).abs >= distance ? count : 0 }.fdiv(counts.values.sum)
        end

        def normal(a, b)
          deviation = Math.sqrt(variance(a, b))
          return 1.0 if deviation.zero?

          distance = (u(a, b) - a.length * b.length / 2.0).abs - 0.5
          Normal.two_sided([distance, 0].max / deviation)
        end

        # How often a value of +a+ is above one of +b+; a tie counts half.
        def u(a, b)
          doubled_ranks(a + b).first(a.length).sum / 2.0 - a.length * (a.length + 1) / 2.0
        end

        def variance(a, b)
          all = a + b
          ties = all.tally.values.sum { |times| times**3 - times }
          a.length * b.length / 12.0 * (all.length + 1 - ties.fdiv(all.length * (all.length - 1)))
        end

        # Twice the rank of each of +values+, which is whole where ties share the middle of their ranks.
        def doubled_ranks(values)
          first = {}
          last = {}
          values.sort.each_with_index do |value, index|
            first[value] ||= index + 1
            last[value] = index + 1
          end
          values.map { |value| first[value] + last[value] }
        end

        # { sum => in how many ways +size+ of +ranks+ make it }
        def rank_sums(ranks, size)
          ways = Array.new(size + 1) { Hash.new(0) }
          ways[0][0] = 1
          ranks.each { |rank| deal(rank, ways) }
          ways[size]
        end

        # Adds to +ways+ (by how many were taken) those that take +rank+ as well.
        def deal(rank, ways)
          (ways.length - 2).downto(0) do |taken|
            ways[taken].each { |sum, count| ways[taken + 1][sum + rank] += count }
          end
        end
      end
    end
  end
end
