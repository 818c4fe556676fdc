# frozen_string_literal: true

module Cuttle
  module Studies
    # The ratios that claims are about, with their intervals. They are computed round by round. Few rounds of one pair
    # show little about the noise of such ratios, so the noise is estimated from the whole study
    # (Lab::Statistics::Noise).
    class Evidence
      # The distance between two measurements: { round => value } of the larger, and of the smaller.
      module Apart
        module_function

        def sorted(values, others)
          pairs = (values.keys & others.keys).to_h { |block| [block, [values[block], others[block]].minmax] }
          [pairs.transform_values(&:last), pairs.transform_values(&:first)]
        end

        # Compares each round with the next; no round is in two pairs.
        def in_turn(values)
          pairs = values.sort.each_slice(2).select { |_, next_one| next_one }
          sorted(pairs.to_h(&:first), pairs.to_h { |(block, _), (_, value)| [block, value] })
        end
      end

      def initialize(findings)
        @findings = findings
        @noise = {}
      end

      # The Estimate of above / below, with an interval of that confidence; nil with fewer than two common rounds.
      # conditions: by the figures.
      def ratio(statement, conditions, confidence)
        return share(statement, conditions, confidence) if statement.of_errors?

        values, others = by_round(statement, conditions)
        return if (values.keys & others.keys).length < 2

        Lab::Statistics::Paired.of(others, values, noise: usual(statement, conditions)).estimate(confidence)
      end

      private

      # The share of errors, divided by a number; nil without requests. Its interval describes the differences between
      # starts of servers. Without any error, there is only an upper bound, Clopper and Pearson's for all rounds.
      def share(statement, conditions, confidence)
        runs = @findings.runs(conditions[statement.above], Metric.fetch("errors"))
        runs = runs.select { |run| run.sent.to_i.positive? }
        return if runs.empty?

        found = share_of(runs, confidence)
        bounds = [found.low, found.high&.clamp(0.0, 1.0)]
        Lab::Statistics::Estimate.new(*[found.value, *bounds].map { |value| value && (value / statement.below) },
                                      found.count)
      end

      def share_of(runs, confidence)
        failures = runs.sum(&:failures)
        return Lab::Statistics.proportion(failures, runs.sum(&:sent), confidence) if failures.zero?

        Lab::Statistics.median_interval(runs.map { |run| run.failures.fdiv(run.sent) }, confidence)
      end

      # { round => value } of +above+ and of +below+.
      def by_round(statement, conditions)
        above, below = statement.above, statement.below
        values = @findings.by_round(conditions[above], above.metric)
        return [values, values.transform_values { below }] if below.is_a?(Numeric)
        return Apart.in_turn(values) if statement.apart && below == above

        others = @findings.by_round(conditions[below], below.metric)
        statement.apart ? Apart.sorted(values, others) : [values, others]
      end

      # The usual noise of such ratios. There is none for two metrics of the same runs, or for two different metrics.
      def usual(statement, conditions)
        above, below = statement.above, statement.below
        return Lab::Statistics::Noise::NONE if statement.apart
        return noise(above.metric) if below.is_a?(Numeric)
        return Lab::Statistics::Noise::NONE if above.metric != below.metric || conditions[above] == conditions[below]

        noise(above.metric)
      end

      # Estimated from neighbours. In each round, the loads of a configuration share one start of a server, so they
      # count as one (see Noise.of).
      def noise(metric)
        @noise[metric] ||= begin
          spreads = neighbours(metric).filter_map do |pair|
            Lab::Statistics::Paired.of(*pair.map { |condition| @findings.by_round(condition, metric) }).spread
          end
          Lab::Statistics::Noise.of(spreads, repeats: loads)
        end
      end

      # Pairs of conditions, under the same load if possible; each condition is in only one. Two loads of one
      # configuration are no pair: they share their starts, so they don't show how starts differ.
      def neighbours(metric)
        measured = @findings.study.conditions.reject { |condition| @findings.by_round(condition, metric).empty? }
        by_load = measured.group_by { |condition| condition.load(@findings.scale) }.values.flatten
        by_load.each_slice(2).select { |one, other| other && one.configuration != other.configuration }
      end

      # The mean number of loads of a configuration, over what the results have.
      def loads
        @loads ||= begin
          conditions = @findings.study.conditions.select { |condition| @findings.planned?(condition) }
          conditions.length.fdiv(conditions.map(&:configuration).uniq.length)
        end
      end
    end
  end
end
