# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # A configuration compared with a baseline, under one load.
      class Comparison
        include Judgement

        # A lab promises a false-alarm rate of at most 5%. Its two families, planned comparisons and all pairs, have
        # half of that each.
        LEVEL = 0.025

        # measure: the Measure that is compared. p: adjusted for the family, nil for a single round. level: the level
        # that its unadjusted p has to reach. family: the number of comparisons that are corrected together.
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

        # configuration / baseline: an Estimate. In a closed loop a ratio above 1 is better, in an open loop it is worse
        # (see measure).
        def ratio
          @ratio ||= @paired.estimate
        end

        # The number of rounds in which both ran.
        def rounds
          @paired.count
        end

        # The smallest difference of the ratio from 1 (0.04 for 4%) that 9 of 10 such labs would detect, or nil.
        def detectable
          @detectable ||= @paired.detectable(level: level)&.then { |found| [found, LEAST].max }
        end

        # The same comparison with the roles exchanged.
        def inverse
          Comparison.new(configuration: baseline, baseline: configuration, load: load, measure: measure,
                         paired: @paired.inverse, p: p, level: level, family: family)
        end
      end

      # Comparisons that are corrected together.
      class Family
        LEVEL = Comparison::LEVEL

        # +pairs+: Arrays of ids, [configuration, baseline, load].
        def initialize(values, pairs)
          @values = values
          samples = pairs.map { |pair| sample(*pair) }
          correct(samples.select { |sample| sample[:paired].count.positive? })
        end

        # The Comparison of +configuration+ with +baseline+ under +load+ (ids), in either order. nil if no round has
        # both.
        def find(configuration, baseline, load)
          @comparisons[[configuration, baseline, load]] || @comparisons[[baseline, configuration, load]]&.inverse
        end

        private

        def sample(configuration, baseline, load)
          spec = @values.load(load)
          { configuration: @values.configuration(configuration), baseline: @values.configuration(baseline), load: spec,
            measure: Measure.of(spec), paired: @values.paired(configuration, baseline, load) }
        end

        # A single round can't be tested. Such a pair does not count in the correction of the others.
        def correct(samples)
          tested, single = samples.partition { |sample| sample[:paired].count > 1 }
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
