# frozen_string_literal: true

module Cuttle
  module Lab
    # The analysis of a lab's results.
    #
    # Rule: one value is one start of a server. Only valid runs count. Two configurations are compared round by round,
    # and p-values are corrected for the number of comparisons: the chance that a lab reports any difference that does
    # not exist is at most 5%. Comparisons with the baseline were planned, and are corrected among themselves. Any other
    # base may have been picked because of its results, so its other comparisons are corrected for all pairs.
    class Analysis
      autoload :Changes, "cuttle/lab/analysis/changes"
      autoload :Comparison, "cuttle/lab/analysis/comparison"
      autoload :Coverage, "cuttle/lab/analysis/coverage"
      autoload :Family, "cuttle/lab/analysis/comparison"
      autoload :Judgement, "cuttle/lab/analysis/judgement"
      autoload :Measure, "cuttle/lab/analysis/values"
      autoload :Overload, "cuttle/lab/analysis/overload"
      autoload :Ranking, "cuttle/lab/analysis/ranking"
      autoload :Recommendation, "cuttle/lab/analysis/recommendation"
      autoload :Row, "cuttle/lab/analysis/table"
      autoload :Table, "cuttle/lab/analysis/table"
      autoload :Values, "cuttle/lab/analysis/values"
      autoload :Verdict, "cuttle/lab/analysis/verdict"

      attr_reader :results

      def initialize(results)
        @results = results
        @values = Values.new(results)
      end

      # A Row for each configuration and load that was tried.
      def table
        @table ||= Table.rows(results)
      end

      # The Row of a configuration under a load, or nil. Takes ids or the records themselves.
      def row(configuration, load)
        table.find { |row| [row.configuration.id, row.load.id] == [id(configuration), id(load)] }
      end

      # The Rows of a load, given by its id or itself, in the plan's order.
      def rows(load)
        table.select { |row| row.load.id == id(load) }
      end

      # Whether the lab stopped measuring that configuration to save time, because it was far behind.
      def left_out?(configuration)
        results.left_out.any? { |each| each.configuration == id(configuration) }
      end

      # The configuration that the control repeats, otherwise the plan's first; it must have valid runs. nil if none
      # has.
      def baseline
        originals = @values.configurations.reject(&:control_of)
        controlled = @values.controls.map(&:control_of)
        originals.find { |each| controlled.include?(each.id) } || originals.first
      end

      # Comparisons of every other configuration with +baseline+, under +load+ or under all loads, in the plan's order.
      # Those of overloaded configurations are among them (see Overload).
      def comparisons(baseline: self.baseline, load: nil)
        loads = load ? [id(load)] : results.loads.map(&:id)
        others = @values.configurations.map(&:id) - [id(baseline)]
        loads.product(others).filter_map { |each, other| comparison(other, id(baseline), each) }
      end

      # The A/A controls: a Comparison of a configuration with its own repetition for each load under which neither was
      # overloaded. Empty if none ran.
      def controls
        results.loads.product(@values.controls).filter_map do |load, control|
          pair = [control.id, control.control_of]
          planned.find(*pair, load.id) if pair.none? { |each| row(each, load)&.overloaded? }
        end
      end

      # The control with the smallest p, or nil.
      def control
        controls.select(&:p).min_by(&:p) || controls.first
      end

      # The best Row under +load+ among those that are comparable, or nil. A single lucky round makes none the best:
      # what was left out counts only if everything was.
      def best(load:)
        measure = Measure.of(results.load(id(load)))
        rows = rows(load).select { |row| !row.configuration.control_of && row.comparable? && measure.estimate(row) }
        kept = rows.reject { |row| left_out?(row.configuration) }
        (kept.any? ? kept : rows).max_by { |row| measure.goodness(measure.typical(row)) }
      end

      # The configurations under +load+ in groups: a Ranking, or nil if nothing was measured under it.
      def ranking(load:)
        @rankings ||= {}
        @rankings.fetch(id(load)) { |key| @rankings[key] = Ranking.of(self, results.load(key)) }
      end

      # The Recommendation of what to run.
      def recommendation
        @recommendation ||= Recommendation.new(self)
      end

      # The verdict: an Array of sentences.
      def verdict
        Verdict.new(self).sentences
      end

      private

      def comparison(*ids)
        planned.find(*ids) || pairs.find(*ids)
      end

      def planned
        @planned ||= Family.new(@values, @values.planned(baseline))
      end

      def pairs
        @pairs ||= Family.new(@values, @values.pairs)
      end

      def id(thing)
        thing.respond_to?(:id) ? thing.id : thing
      end
    end
  end
end
