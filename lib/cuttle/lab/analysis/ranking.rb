# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # The configurations under one load, in groups by how they compare with the best one. Frozen.
      #
      # Rule: a configuration is as good as the best if the lab would have detected a considerable difference, found
      # none, and its figure is within NEAR of the best's. It also is if its whole interval is within ALIKE of the best.
      # A configuration that is neither as good nor measurably behind is unclear. The Verdict's sentences follow these
      # groups.
      class Ranking
        NEAR = 0.05 # share of the best figure
        ALIKE = 0.03 # a smaller difference does not matter for a choice
        GROUPS = %i[best behind unclear overloaded left_out unmeasured].freeze

        # nil without a load, or if nothing was measured under it.
        def self.of(analysis, load)
          best = load && analysis.best(load: load)
          new(analysis, load, best) if best
        end

        # best: a Row.
        attr_reader :load, :best

        def initialize(analysis, load, best)
          @analysis = analysis
          @load = load
          @best = best
          @measure = Measure.of(load)
          @comparisons = analysis.comparisons(baseline: best.configuration, load: load)
                                 .to_h { |each| [each.configuration.id, each] }
          @groups = analysis.rows(load).group_by { |row| group(original(row)) }.transform_values { |rows| sorted(rows) }
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

        # The configurations that were compared with the best one, the nearest first.
        def rivals
          all = %i[best behind unclear].flat_map { |group| configurations(group) } - [best.configuration]
          all.sort_by { |each| behind(each) }
        end

        # A configuration compared with the best one: a Comparison, or nil.
        def comparison(configuration)
          @comparisons[configuration.id]
        end

        # The factor by which the best is better than a configuration, by the rounds that both have; nil if none.
        def behind(configuration)
          ratio = comparison(configuration)&.ratio&.value
          ratio && (@load.open? ? ratio : 1 / ratio)
        end

        private

        # A control is not compared with others, so it goes into the group of its original.
        def original(row)
          (row.configuration.control_of && @analysis.row(row.configuration.control_of, @load)) || row
        end

        def group(row)
          return :best if row.equal?(@best)
          return :left_out if @analysis.left_out?(row.configuration)
          return :overloaded if row.overloaded?

          comparison = comparison(row.configuration)
          return :unmeasured unless comparison && row.sound?
          return :best if comparison.better? || alike?(comparison) || tied?(comparison)

          comparison.different? ? :behind : :unclear
        end

        def tied?(comparison)
          !comparison.different? && !comparison.undecided? && within?(NEAR, comparison.ratio.value)
        end

        # Judged by the whole interval.
        def alike?(comparison)
          bounds = [comparison.ratio.low, comparison.ratio.high]
          bounds.all? && bounds.all? { |bound| within?(ALIKE, bound) }
        end

        def within?(share, ratio)
          Math.log(ratio).abs <= Math.log(1 + share)
        end

        def sorted(rows)
          rows.sort_by do |row|
            value = @measure.typical(row)
            value ? -@measure.goodness(value) : Float::INFINITY
          end
        end
      end
    end
  end
end
