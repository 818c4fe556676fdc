# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Puts an Analysis into sentences. For each load: the best configuration compared with the baseline, and those
      # that are as good. Then: how reliable the lab itself is.
      #
      # Rule: the verdict reports a difference only if Comparison#different? is true, and gives its interval. It reports
      # "no difference" only of configurations that the Ranking calls as good as the best, and says how large a
      # difference would have been detected. Otherwise there were too few rounds, and the verdict says that.
      class Verdict
        autoload :Phrases, "cuttle/lab/analysis/verdict/phrases"

        def initialize(analysis)
          @analysis = analysis
          @loads = analysis.results.loads
        end

        def sentences
          told = @loads.flat_map { |load| of(load).map { |sentence| "#{at(load)}#{sentence}" } }
          [*disagreement, *told, *agreement, *interruption]
        end

        private

        def at(load)
          "at #{load.name}: " if @loads.length > 1
        end

        def of(load)
          ranking = @analysis.ranking(load: load)
          return ["no configuration was measured reliably", *faults(load)] unless ranking

          [ahead(ranking), *beside(ranking), *faults(load)].compact
        end

        # The best compared with the baseline. If the baseline itself is best, or its figures don't count: the best
        # compared with the next best, if there is a difference.
        def ahead(ranking)
          rival = baseline(ranking) || ranking.rivals.first
          return Phrases.alone(ranking.best) unless rival

          comparison = ranking.comparison(rival).inverse
          return Phrases.difference(comparison) if comparison.different?

          Phrases.public_send(unclear?(ranking, rival) ? :unclear : :same, rival, [comparison]) if baseline(ranking)
        end

        # Configurations that are as good as the best, and those for which the lab can't decide.
        def beside(ranking)
          others = (ranking.rivals - [baseline(ranking)]).map { |each| ranking.comparison(each) }.reject(&:different?)
          unclear, same = others.partition { |each| unclear?(ranking, each.configuration) }
          [(Phrases.same(ranking.best.configuration, same) if same.any?),
           (Phrases.unclear(ranking.best.configuration, unclear) if unclear.any?)]
        end

        def unclear?(ranking, configuration)
          ranking.configurations(:unclear).include?(configuration)
        end

        # The baseline, if it was compared with a better configuration.
        def baseline(ranking)
          @analysis.baseline if ranking.rivals.include?(@analysis.baseline)
        end

        def faults(load)
          faulty, others = @analysis.rows(load).partition { |row| !row.sound? }
          overloaded = others.select { |row| row.overloaded? && !row.configuration.control_of }
          [*faulty.map { |row| Phrases.fault(row) }, *(Phrases.overloaded(overloaded) if overloaded.any?)]
        end

        def disagreement
          @analysis.controls.select(&:different?).map { |control| Phrases.disagreement(control) }
        end

        def agreement
          return if @analysis.controls.any?(&:different?)

          untested, tested = @analysis.controls.partition(&:undecided?)
          [(Phrases.agreement(tested) if tested.any?), *untested.map { |control| Phrases.untested(control) }].compact
        end

        def interruption
          "the lab was not completed: these are the results so far" if @analysis.results.interrupted?
        end
      end
    end
  end
end
