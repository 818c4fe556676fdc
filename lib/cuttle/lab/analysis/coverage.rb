# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Which of the lab's configurations were compared with the best one of a Ranking. Frozen.
      #
      # Rule: a configuration was compared if it was tested in several rounds, and if it was left out because it was FAR
      # behind. One that was left out for lack of time, or never started, was not. Those that failed, answered only
      # errors or were overloaded are out of the question, so they are neither.
      class Coverage
        FAR = Runner::Roster::FAR

        # all: the configurations that the lab was to measure under the Ranking's load, without controls. uncompared:
        # those that may be better than the best one, as far as the lab knows.
        attr_reader :all, :uncompared

        def initialize(analysis, ranking)
          @analysis = analysis
          @ranking = ranking
          @all = planned.freeze
          @tested = ranking.configurations(:best) + ranking.configurations(:behind) - [ranking.best.configuration]
          @uncompared = (all - [ranking.best.configuration] - compared).reject { |each| faulty?(each) }.freeze
          freeze
        end

        # Whether the comparisons suffice to recommend a configuration: most were compared, and at least one in several
        # rounds. A lab of a single configuration needs none.
        def enough?
          asked.one? || (@tested.any? && uncompared.length <= compared.length)
        end

        private

        def compared
          @tested + @ranking.configurations(:left_out).select { |each| @ranking.behind(each).to_f >= FAR }
        end

        def asked
          @analysis.results.configurations.reject(&:control_of)
        end

        def planned
          plan = Plan.of(@analysis.results)
          (plan.present & asked).select { |each| plan.loads_of(each).include?(@ranking.load) }
        end

        def faulty?(configuration)
          row = @analysis.row(configuration, @ranking.load)
          !row.nil? && !row.comparable?
        end
      end
    end
  end
end
