# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # The configurations under one load, in groups by how they compare with the best one. Frozen.
      #
      # Rule: a configuration is equal to the best only if no difference was measured, a considerable one would have
      # been, and its own figure is NEAR the best's. What is neither equal nor measurably behind is unclear.
      class Ranking
        NEAR = 0.05 # of the best figure
        GROUPS = %i[best behind unclear left_out unmeasured].freeze

        # nil without a load, or if nothing was measured under it.
        def self.of(analysis, load)
          best = load && analysis.best(load: load)
          new(analysis, load, best) if best
        end

        # best: a Row. detectable: the difference from the best that every one of its equals would have shown, as a
        # share; nil without equals.
        attr_reader :load, :best, :detectable

        def initialize(analysis, load, best)
          @analysis = analysis
          @load = load
          @best = best
          @measure = Measure.of(load)
          @comparisons = analysis.comparisons(baseline: best.configuration, load: load)
                                 .to_h { |each| [each.configuration.id, each] }
          @groups = analysis.rows(load).group_by { |row| group(original(row)) }.transform_values { |rows| sorted(rows) }
          @detectable = equals.filter_map { |row| @comparisons[row.configuration.id]&.detectable }.max
          freeze
        end

        # { group => its Rows, the best first }, in the order of GROUPS, without empty groups. Controls are among them.
        def groups
          GROUPS.filter_map { |name| [name, @groups[name]] if @groups[name] }.to_h
        end

        # The configurations of a group, without controls.
        def configurations(group)
          @groups.fetch(group, []).map(&:configuration).reject(&:control_of)
        end

        private

        def equals
          @groups.fetch(:best, []).reject { |row| row.equal?(@best) || row.configuration.control_of }
        end

        # A control is not compared with others, so it is where its original is.
        def original(row)
          (row.configuration.control_of && @analysis.row(row.configuration.control_of, @load)) || row
        end

        def group(row)
          return :best if row.equal?(@best)
          return :left_out if @analysis.left_out?(row.configuration)

          comparison = @comparisons[row.configuration.id]
          return :unmeasured unless comparison && row.sound?
          return :behind if comparison.different?

          equal?(comparison) ? :best : :unclear
        end

        def equal?(comparison)
          !comparison.undecided? && Math.log(comparison.ratio.value).abs <= Math.log(1 + NEAR)
        end

        def sorted(rows)
          rows.sort_by { |row| @measure.estimate(row) ? -@measure.goodness(@measure.estimate(row).value) : Float::INFINITY }
        end
      end
    end
  end
end
