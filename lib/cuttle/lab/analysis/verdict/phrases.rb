# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      class Verdict
        # The wording of the verdict's sentences.
        module Phrases
          module_function

          # A Comparison that is different.
          def difference(comparison)
            "#{comparison.configuration.name} #{verb(comparison)} #{comparison.baseline.name} " \
              "#{interval(comparison.ratio)}"
          end

          def verb(comparison)
            load = comparison.load
            "#{load.open? ? "has" : "serves"} #{factor(comparison.ratio.value)} the #{measure(load)} of"
          end

          # The interval, as in "(95%: 1.31 to 1.45)".
          def interval(estimate)
            "(95%: #{format("%.2f", estimate.low)} to #{format("%.2f", estimate.high)})"
          end

          # Says that +configuration+ does not differ from the others of +comparisons+.
          def same(configuration, comparisons)
            "no measurable difference between #{configuration.name} and #{others(configuration, comparisons)} " \
              "(#{seen(comparisons)})"
          end

          def others(configuration, comparisons)
            all = comparisons.flat_map { |each| [each.configuration, each.baseline] }.uniq - [configuration]
            list(all.map(&:name))
          end

          # Says that there are too few rounds to compare +configuration+, the baseline of +comparisons+, with the
          # others.
          def unclear(configuration, comparisons)
            name, others = configuration.name, others(configuration, comparisons)
            ratios = comparisons.map { |each| each.ratio.value }.minmax.map { |ratio| factor(ratio) }.uniq
            "too few rounds to compare #{name} with #{others}: #{comparisons.one? ? others : "they"} had " \
              "#{ratios.join(" to ")} the #{measure(comparisons.first.load)} of #{name}, and #{needed(comparisons)}"
          end

          # The difference that would have been detected.
          def needed(comparisons)
            effects = comparisons.map(&:detectable)
            return "one round can't distinguish a difference from chance" unless effects.all?

            "only a difference of #{effect(effects.max)} would have been detected"
          end

          def measure(load)
            load.open? ? "95th percentile response time" : "requests"
          end

          # The effect that the lab would have detected in each of these comparisons.
          def seen(comparisons)
            "#{effect(comparisons.map(&:detectable).max)} would have been detected"
          end

          # A sentence for a Row without anything to compare it with.
          def alone(row)
            estimate = row.load.open? ? row.p95 : row.rate
            told = row.load.open? ? "has a p95 of %s ms" : "serves %s requests/s"
            interval = " (95%: #{digits(estimate.low)} to #{digits(estimate.high)})" if estimate.interval?
            "#{row.configuration.name} #{format(told, digits(estimate.value))}#{interval}"
          end

          def fault(row)
            share = row.error_share
            "#{row.configuration.name} failed #{share < 0.995 ? percent(share) : "all"} of its requests: " \
              "its figures don't count"
          end

          # About Rows.
          def overloaded(rows)
            "overloaded at this rate: #{rows.map { |row| row.configuration.name }.join(", ")}; requests came faster " \
              "than they were answered, so response times only show how long the runs were"
          end

          def disagreement(control)
            "the control disagrees at #{control.load.name}: #{control.baseline.name} repeated differs from itself, " \
              "#{factor(control.ratio.value)} #{interval(control.ratio)}; something other than the configuration " \
              "changed, so differences of that size mean nothing"
          end

          def agreement(controls)
            names = list(controls.map { |each| each.baseline.name }.uniq)
            seen = controls.map { |each| "#{effect(each.detectable)} at #{each.load.name}" }
            "the control agrees: no measurable difference between #{names} and itself repeated " \
              "(#{seen.join(", ")} would have been detected)"
          end

          # Says that the control decides nothing, because it would have detected only far greater effects.
          def untested(control)
            "the control was not tested at #{control.load.name}: too few rounds, #{needed([control])}"
          end

          # "1.38x"
          def factor(ratio)
            format("%.2fx", ratio)
          end

          # An effect, rounded up so that it never claims too much. With two rounds, it may be greater than any server
          # shows.
          def effect(share)
            return "more than 10x" if share > 9
            return format("%.1fx", tenths(1 + share)) if share >= 1

            share < 0.1 ? "#{format("%g", tenths(share * 100))}%" : "#{(share * 100).round(6).ceil}%"
          end

          # Rounds up to a tenth and ignores floating-point errors.
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
end
