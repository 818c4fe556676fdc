# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Comparisons that are corrected for each other.
      class Family
        # A chance of 5% to call anything different that is not, is what a lab promises. It spends half: the other
        # half is for what tests of a few blocks take for granted (that logarithms of ratios are about normal).
        LEVEL = 0.025

        # +pairs+: [configuration, base, load], ids.
        def initialize(cells, pairs)
          @cells = cells
          samples = pairs.map { |pair| sample(*pair) }
          correct(samples.select { |sample| sample[:paired].count.positive? })
        end

        # The Comparison of +configuration+ with +base+ under +load+ (ids), either way round; nil where no block has
        # both.
        def find(configuration, base, load)
          @comparisons[[configuration, base, load]] || @comparisons[[base, configuration, load]]&.inverse
        end

        private

        def sample(configuration, base, load)
          spec = @cells.load(load)
          measure = Measure.of(spec)
          values = [base, configuration].map { |id| @cells.values(id, load) }
          { configuration: @cells.configuration(configuration), base: @cells.configuration(base), load: spec,
            measure: measure, paired: Statistics::Paired.of(*values, noise: @cells.noise(measure)) }
        end

        # What has one block only can't be tested, and takes nothing from the others.
        def correct(samples)
          tested, single = samples.partition { |sample| sample[:paired].p }
          ps = tested.map { |sample| sample[:paired].p }
          all = tested.zip(Statistics.holm(ps), Statistics::Holm.levels(ps, LEVEL)) +
                single.map { |sample| [sample, nil, LEVEL] }
          @comparisons = all.to_h { |sample, p, level| [key(sample), compare(sample, p, level, tested)] }
        end

        def compare(sample, p, level, tested)
          Comparison.new(**sample, p: p, level: level, family: tested.length)
        end

        def key(sample)
          sample.values_at(:configuration, :base, :load).map(&:id)
        end
      end
    end
  end
end
