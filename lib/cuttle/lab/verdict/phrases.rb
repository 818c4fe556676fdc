# frozen_string_literal: true

module Cuttle
  module Lab
    class Verdict
      # The words of a verdict.
      module Phrases
        ONE_BLOCK = "one block tells no difference from chance"

        module_function

        # Of a Comparison.
        def comparison(comparison)
          return same(comparison.base, [comparison]) unless comparison.different?

          "#{comparison.configuration.name} #{verb(comparison)} #{comparison.base.name} #{interval(comparison.ratio)}"
        end

        def verb(comparison)
          told = comparison.load.open? ? "has %s the 95th percentile response time of" : "serves %s the requests of"
          format(told, factor(comparison.ratio.value))
        end

        # "(95%: 1.31 to 1.45)"
        def interval(estimate)
          "(95%: #{format("%.2f", estimate.low)} to #{format("%.2f", estimate.high)})"
        end

        # +configuration+ and those of +comparisons+ that it isn't.
        def same(configuration, comparisons)
          others = comparisons.flat_map { |each| [each.configuration, each.base] }.uniq - [configuration]
          "no measurable difference between #{configuration.name} and #{list(others.map(&:name))} " \
            "(#{seen(comparisons)})"
        end

        # What would have been seen in each of them.
        def seen(comparisons)
          effects = comparisons.map(&:detectable)
          effects.all? ? "we would have seen #{effect(effects.max)}" : ONE_BLOCK
        end

        # Of a Row that nothing can be compared with.
        def alone(row)
          estimate = row.load.open? ? row.p95 : row.rate
          told = row.load.open? ? "has a p95 of %s ms" : "serves %s requests/s"
          interval = " (95%: #{digits(estimate.low)} to #{digits(estimate.high)})" if estimate.interval?
          "#{row.configuration.name} #{format(told, digits(estimate.value))}#{interval}"
        end

        def fault(row)
          share = row.error_share
          "#{row.configuration.name} failed #{share < 0.995 ? percent(share) : "all"} of its requests: " \
            "its figures are no praise"
        end

        def disagreement(control)
          "the control disagrees at #{control.load.name}: #{control.base.name} repeated differs from itself, " \
            "#{factor(control.ratio.value)} #{interval(control.ratio)}; something else than the configuration " \
            "changed, so trust no difference of that size"
        end

        def agreement(controls)
          "the control agrees: no measurable difference between #{list(controls.map { |each| each.base.name }.uniq)} " \
            "and itself repeated (#{seen(controls)})"
        end

        # "1.38x"
        def factor(ratio)
          format("%.2fx", ratio)
        end

        # Rounded up: what would have been seen is never less than is said. Two rounds may tell of nothing that exists.
        def effect(share)
          return "more than 10x only" if share > 9
          return format("%.1fx", tenths(1 + share)) if share >= 1

          share < 0.1 ? "#{format("%g", tenths(share * 100))}%" : "#{(share * 100).round(6).ceil}%"
        end

        # Rounded up to a tenth, but for what is a Float's error.
        def tenths(number)
          (number * 10).round(6).ceil / 10.0
        end

        def percent(share)
          "#{format("%.2g", share * 100)}%"
        end

        def digits(number)
          Load::Units.count(number, number < 100 ? 1 : 0)
        end

        def list(names)
          names.length > 1 ? "#{names[0..-2].join(", ")} or #{names.last}" : names.first
        end
      end
    end
  end
end
