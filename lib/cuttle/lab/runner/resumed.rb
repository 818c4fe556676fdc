# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # What the results already have of a lab that is resumed. A new lab has nothing.
      #
      # Rule: a round is measured in one sitting, because configurations are compared within rounds. Rounds are made in
      # order, so only the last one can be incomplete. It is measured again as a whole.
      class Resumed
        # results: the Results, or nil.
        def initialize(results)
          @results = results
          @runs = results ? results.runs : []
          @failures = results ? results.failures : []
          @last = (@runs + @failures).filter_map(&:block).max || -1
        end

        # The number of the last run in the lab.
        def order
          @runs.map { |run| run["order"].to_i }.max.to_i
        end

        # The number of runs that were repeated.
        def repeated
          @runs.count { |run| run["repeated"] }
        end

        # The ids of the configurations that were left out.
        def left_out
          @results ? @results.left_out.map(&:configuration) : []
        end

        # The runs of a round.
        def runs(round)
          @runs.select { |run| run.block == round }
        end

        # The number of rounds that have begun.
        def rounds
          @last + 1
        end

        def begun?(round)
          round <= @last
        end

        # Whether the results have the whole round of these Plan::Starts.
        def whole?(starts)
          round = starts.first.round
          round < @last || (round == @last && starts.all? { |start| settled?(start) })
        end

        private

        def settled?(start)
          id = start.configuration.id
          left_out.include?(id) || given_up?(id, start.round) ||
            start.loads.all? { |load| @results.run?(id, load.id, start.round) }
        end

        # Whether a configuration was given up before that round: it failed in so many rounds, or a round after its
        # failure has nothing of it. A single failure is not enough.
        def given_up?(id, round)
          failed = @failures.select { |failure| failure.configuration == id }.filter_map(&:block).uniq
          return false if failed.empty? || failed.include?(round)

          failed.length >= FAILURES || (failed.max + 1...round).any? { |each| missed?(id, each) }
        end

        def missed?(id, round)
          runs(round).none? { |run| run.configuration == id }
        end
      end
    end
  end
end
