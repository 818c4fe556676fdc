# frozen_string_literal: true

module Cuttle
  module Lab
    # What the results of a lab say.
    #
    # The law: one value is one start of a server. Only valid runs count. Comparisons are by block, and corrected for
    # how many there are: with a chance of at most 5% a lab calls anything different that is not. Those of the
    # baseline were planned, and are corrected for each other; those of any other baseline could have been picked by the
    # looks of the results, and are corrected for all pairs there are.
    class Analysis
      autoload :Changes, "cuttle/lab/analysis/changes"
      autoload :Comparison, "cuttle/lab/analysis/comparison"
      autoload :Family, "cuttle/lab/analysis/comparison"
      autoload :Measure, "cuttle/lab/analysis/values"
      autoload :Row, "cuttle/lab/analysis/table"
      autoload :Table, "cuttle/lab/analysis/table"
      autoload :Values, "cuttle/lab/analysis/values"
      autoload :Verdict, "cuttle/lab/analysis/verdict"

      attr_reader :results

      def initialize(results)
        @results = results
        @values = Values.new(results)
      end

      # A Row for each configuration under each load that was tried.
      def table
        @table ||= Table.rows(results)
      end

      # The Row of a configuration under a load (each by its id or itself), or nil.
      def row(configuration, load)
        table.find { |row| [row.configuration.id, row.load.id] == [id(configuration), id(load)] }
      end

      # What others are compared with: the first configuration of the plan that was measured, or nil.
      def baseline
        @values.configurations.find { |configuration| !configuration.control_of }
      end

      # Comparison of every other configuration with +baseline+, under +load+ or all loads, in the plan's order.
      def comparisons(baseline: self.baseline, load: nil)
        compared_with = id(baseline)
        family = compared_with == self.baseline&.id ? planned : pairs
        loads = load ? [id(load)] : results.loads.map(&:id)
        loads.product(@values.configurations).filter_map do |each, other|
          family.find(other.id, compared_with, each) unless other.id == compared_with
        end
      end

      # The A/A control: the Comparison of a configuration with itself, of which there is one for each load. Empty where
      # none ran.
      def controls
        results.loads.product(@values.controls).filter_map do |load, control|
          planned.find(control.id, control.control_of, load.id)
        end
      end

      # The control that is least like what it repeats, or nil.
      def control
        controls.select(&:p).min_by(&:p) || controls.first
      end

      # The Row that did best under +load+, of those whose answers were right; or nil.
      def best(load:)
        measure = Measure.of(results.load(id(load)))
        rows = table.select { |row| row.load.id == id(load) && !row.configuration.control_of && row.sound? }
        rows.select { |row| measure.estimate(row) }.max_by { |row| measure.goodness(measure.estimate(row).value) }
      end

      # Sentences.
      def verdict
        Verdict.new(self).sentences
      end

      private

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
