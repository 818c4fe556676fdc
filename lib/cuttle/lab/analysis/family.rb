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
            values: values, measure: measure,
            paired: Statistics::Paired.of(*values, noise: @cells.noise(measure)) }
        end

        # What has one block only can't be tested, and takes nothing from the others.
        def correct(samples)
          tested, single = samples.partition { |sample| sample[:paired].p }
          ps = tested.map { |sample| sample[:paired].p }
          all = tested.zip(Statistics.holm(ps), Statistics::Holm.levels(ps, LEVEL), rank_ps(tested)) +
                single.map { |sample| [sample, nil, LEVEL, nil] }
          @comparisons = all.to_h { |sample, p, level, rank_p| [key(sample), compare(sample, p, level, rank_p, ps)] }
        end

        def rank_ps(tested)
          Statistics.holm(tested.map { |sample| Statistics.mann_whitney(*sample[:values].map(&:values)) })
        end

        def compare(sample, p, level, rank_p, ps)
          Comparison.new(**sample, p: p, level: level, rank_p: rank_p, family: ps.length)
        end

        def key(sample)
          sample.values_at(:configuration, :base, :load).map(&:id)
        end
      end
    end
  end
end
