# frozen_string_literal: true

module Cuttle
  module Studies
    # The ratios that claims are about, with their intervals: by block, and with what the whole study says of how restless
    # such ratios are (Lab::Statistics::Noise), for a few blocks of one pair say little about that.
    class Evidence
      # How far two measurements are apart, whichever is the larger: { block => value } of the larger, and the smaller.
      module Apart
        module_function

        def sorted(values, others)
          pairs = (values.keys & others.keys).to_h { |block| [block, [values[block], others[block]].minmax] }
          [pairs.transform_values(&:last), pairs.transform_values(&:first)]
        end

        # Of each block and the next one, no block in two pairs.
        def in_turn(values)
          pairs = values.sort.each_slice(2).select { |_, next_one| next_one }
          sorted(pairs.to_h(&:first), pairs.to_h { |(block, _), (_, value)| [block, value] })
        end
      end

      def initialize(findings)
        @findings = findings
        @noise = {}
      end

      # Estimate of above / below; nil where they have less than two blocks in common. conditions: by the figures.
      def ratio(statement, conditions)
        values, others = by_round(statement, conditions)
        return if (values.keys & others.keys).length < 2

        Lab::Statistics::Paired.of(others, values, noise: usual(statement, conditions)).estimate
      end

      private

      # { block => value } of what stands above and of what stands below.
      def by_round(statement, conditions)
        above, below = statement.above, statement.below
        values = @findings.by_round(conditions[above], above.metric)
        return [values, values.transform_values { below }] if below.is_a?(Numeric)
        return Apart.in_turn(values) if statement.apart && below == above

        others = @findings.by_round(conditions[below], below.metric)
        statement.apart ? Apart.sorted(values, others) : [values, others]
      end

      # Of ratios of that kind. Of two numbers of the same runs, or of two kinds, nothing is usual.
      def usual(statement, conditions)
        above, below = statement.above, statement.below
        return Lab::Statistics::Noise::NONE if statement.apart
        return noise(above.metric) if below.is_a?(Numeric)
        return Lab::Statistics::Noise::NONE if above.metric != below.metric || conditions[above] == conditions[below]

        noise(above.metric)
      end

      # Learnt from neighbours, each condition in one pair only; but the loads of a block are put on one start of a server.
      def noise(metric)
        @noise[metric] ||= begin
          values = @findings.study.conditions.map { |condition| @findings.by_round(condition, metric) }.reject(&:empty?)
          spreads = values.each_slice(2).filter_map { |one, other| Lab::Statistics::Paired.of(one, other).spread if other }
          Lab::Statistics::Noise.of(spreads, repeats: loads)
        end
      end

      # The most that a configuration has.
      def loads
        @findings.study.conditions.group_by(&:configuration).values.map(&:length).max
      end
    end
  end
end
