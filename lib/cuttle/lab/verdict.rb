# frozen_string_literal: true

module Cuttle
  module Lab
    # An Analysis in sentences: for each load what did best, against the reference, and what is no worse; then what to
    # think of the lab itself.
    #
    # The law: a difference is told only where Comparison#different? says so, and then with its interval; where it does
    # not, what would have been seen is told.
    class Verdict
      autoload :Phrases, "cuttle/lab/verdict/phrases"

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
        best = @analysis.best(load: load)
        return ["nothing was measured that can be relied on", *faults(load)] unless best

        [ahead(best), tied(best), *faults(load)].compact
      end

      # The best against the reference; the reference, where it is best itself, against the next.
      def ahead(best)
        comparison = against_reference(best)
        return Phrases.alone(best) unless comparison
        return Phrases.comparison(comparison) unless comparison.configuration == @analysis.reference

        Phrases.comparison(comparison) if comparison.different?
      end

      def against_reference(best)
        planned = @analysis.comparisons(load: best.load).reject { |each| each.configuration.control_of }
        return planned.find { |each| each.configuration == best.configuration } unless
          best.configuration == @analysis.reference

        planned.max_by { |each| each.measure.goodness(each.ratio.value) }&.inverse
      end

      # Whatever else could be as good.
      def tied(best)
        others = @analysis.comparisons(base: best.configuration, load: best.load).reject do |each|
          each.different? || each.configuration.control_of || told?(each, best)
        end
        Phrases.same(best.configuration, others) if others.any?
      end

      # ahead has told of it already.
      def told?(comparison, best)
        comparison.configuration == @analysis.reference && best.configuration != @analysis.reference
      end

      def faults(load)
        rows = @analysis.table.select { |row| row.load.id == load.id && !row.sound? }
        rows.map { |row| Phrases.fault(row) }
      end

      def disagreement
        @analysis.controls.select(&:different?).map { |control| Phrases.disagreement(control) }
      end

      def agreement
        controls = @analysis.controls
        return if controls.empty? || controls.any?(&:different?)

        Phrases.agreement(controls)
      end

      def interruption
        "the lab did not come to its end: this is what was measured until then" if @analysis.results.interrupted?
      end
    end
  end
end
