# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # A configuration beside a base, under one load.
      class Comparison
        # Less than this is no difference even where it is no chance: the layout of memory alone is worth as much.
        LEAST = 0.01

        # measure: by which they are compared (Measure). p: adjusted for the family, nil of one block only.
        # level: what its own p had to be below. family: how many comparisons were corrected together.
        attr_reader :configuration, :base, :load, :measure, :p, :level, :family

        def initialize(configuration:, base:, load:, measure:, paired:, p:, level:, family:)
          @configuration = configuration
          @base = base
          @load = load
          @measure = measure
          @paired = paired
          @p = p
          @level = level
          @family = family
        end

        # configuration / base: an Estimate. Above 1 is better in a closed loop, and worse in an open one (see measure).
        def ratio
          @ratio ||= @paired.estimate
        end

        # Blocks in which both ran.
        def blocks
          @paired.count
        end

        def different?
          !p.nil? && p <= Family::LEVEL && Math.log(ratio.value).abs >= Math.log(1 + LEAST)
        end

        # Whether the configuration is measurably better than the base.
        def better?
          different? && measure.goodness(ratio.value) > measure.goodness(1)
        end

        # The smallest difference of the ratio from 1 (0.04 for 4%) that would have been found in 9 of 10 labs, or nil.
        def detectable
          @detectable ||= @paired.detectable(level: level)&.then { |found| [found, LEAST].max }
        end

        # The base beside the configuration.
        def inverse
          Comparison.new(configuration: base, base: configuration, load: load, measure: measure,
                         paired: @paired.inverse, p: p, level: level, family: family)
        end
      end
    end
  end
end
