# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Things measured in the same rounds: how much each varies from start to start, without the effects that its
      # rounds had on all of them. Values are logarithms, and the model is additive: a level for each thing, an effect
      # for each round, and scatter that may differ between things. Values may be missing.
      class Layout
        SWEEPS = 20 # iterations of the fit, if values are missing; otherwise one is exact

        # values: { thing => { round => positive value } }. Things with fewer than two rounds show no scatter.
        def initialize(values)
          logs = values.transform_values { |rounds| rounds.select { |_, value| value&.positive? } }
                       .transform_values { |rounds| rounds.transform_values { |value| Math.log(value) } }
          @logs = logs.select { |_, rounds| rounds.length > 1 }
          @sizes = @logs.values.flat_map(&:keys).tally
          fit
          freeze
        end

        # { thing => [variance of one value, degrees of freedom] }
        def spreads
          @logs.to_h { |thing, rounds| [thing, spread(thing, rounds)] }.select { |_, (_, degrees)| degrees.positive? }
        end

        private

        def fit
          @effects = @sizes.transform_values { 0.0 }
          (complete? ? 1 : SWEEPS).times do
            @levels = @logs.transform_values { |rounds| mean(rounds) { |round, log| log - @effects[round] } }
            @effects = @sizes.to_h { |round, _| [round, effect(round)] }
          end
        end

        def complete?
          @logs.each_value.all? { |rounds| rounds.length == @sizes.length }
        end

        def effect(round)
          there = @logs.select { |_, rounds| rounds.key?(round) }
          mean(there) { |thing, rounds| rounds[round] - @levels[thing] }
        end

        def mean(pairs)
          pairs.sum { |key, value| yield key, value } / pairs.length
        end

        def spread(thing, rounds)
          squares = rounds.sum { |round, log| (log - @levels[thing] - @effects[round])**2 }
          degrees = degrees(rounds)
          [degrees.positive? ? squares / degrees : nil, degrees]
        end

        # The degrees of freedom that the level uses, and this thing's part in the effects of its rounds.
        def degrees(rounds)
          shares = rounds.keys.sum { |round| 1 - (1.0 / @sizes[round]) }
          shares * (rounds.length - 1) / rounds.length
        end
      end
    end
  end
end
