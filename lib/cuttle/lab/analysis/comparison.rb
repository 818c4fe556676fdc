# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # A configuration beside a baseline, under one load.
      class Comparison
        # Less than this is no difference even where it is no chance: the layout of memory alone is worth as much.
        LEAST = 0.01

        # measure: by which they are compared (Measure). p: adjusted for the family, nil of one block only.
        # level: what its own p had to be below. family: how many comparisons were corrected together.
        attr_reader :configuration, :baseline, :load, :measure, :p, :level, :family

        def initialize(configuration:, baseline:, load:, measure:, paired:, p:, level:, family:)
          @configuration = configuration
          @baseline = baseline
          @load = load
          @measure = measure
          @paired = paired
          @p = p
          @level = level
          @family = family
        end

        # configuration / baseline: an Estimate. Above 1 is better in a closed loop, and worse in an open one (see measure).
        def ratio
          @ratio ||= @paired.estimate
        end

        # Blocks in which both ran.
        def rounds
          @paired.count
        end

        def different?
          !p.nil? && p <= Family::LEVEL && Math.log(ratio.value).abs >= Math.log(1 + LEAST)
        end

        # Whether the configuration is measurably better than the baseline.
        def better?
          different? && measure.goodness(ratio.value) > measure.goodness(1)
        end

        # The smallest difference of the ratio from 1 (0.04 for 4%) that would have been found in 9 of 10 labs, or nil.
        def detectable
          @detectable ||= @paired.detectable(level: level)&.then { |found| [found, LEAST].max }
        end

        # The baseline beside the configuration.
        def inverse
          Comparison.new(configuration: baseline, baseline: configuration, load: load, measure: measure,
                         paired: @paired.inverse, p: p, level: level, family: family)
        end
      end

      # Comparisons that are corrected for each other.
      class Family
        # A chance of 5% to call anything different that is not, is what a lab promises. It spends half: the other
        # half is for what tests of a few blocks take for granted (that logarithms of ratios are about normal).
        LEVEL = 0.025

        # +pairs+: [configuration, baseline, load], ids.
        def initialize(values, pairs)
          @values = values
          samples = pairs.map { |pair| sample(*pair) }
          correct(samples.select { |sample| sample[:paired].count.positive? })
        end

        # The Comparison of +configuration+ with +baseline+ under +load+ (ids), either way round; nil where no block has
        # both.
        def find(configuration, baseline, load)
          @comparisons[[configuration, baseline, load]] || @comparisons[[baseline, configuration, load]]&.inverse
        end

        private

        def sample(configuration, baseline, load)
          spec = @values.load(load)
          measure = Measure.of(spec)
          measured = [baseline, configuration].map { |id| @values.values(id, load) }
          { configuration: @values.configuration(configuration), baseline: @values.configuration(baseline), load: spec,
            measure: measure, paired: Statistics::Paired.of(*measured, noise: @values.noise(measure)) }
        end

        # What has one block only can't be tested, and takes nothing from the others.
        def correct(samples)
          tested, single = samples.partition { |sample| sample[:paired].p }
          ps = tested.map { |sample| sample[:paired].p }
          all = tested.zip(Statistics::Holm.adjust(ps), Statistics::Holm.levels(ps, LEVEL)) +
                single.map { |sample| [sample, nil, LEVEL] }
          @comparisons = all.to_h { |sample, p, level| [key(sample), compare(sample, p, level, tested)] }
        end

        def compare(sample, p, level, tested)
          Comparison.new(**sample, p: p, level: level, family: tested.length)
        end

        def key(sample)
          sample.values_at(:configuration, :baseline, :load).map(&:id)
        end
      end
    end
  end
end
