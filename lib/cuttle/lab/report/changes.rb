# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The changes from one lab to another (Lab::Analysis::Changes) as text.
      module Changes
        HEADER = ["configuration", "load", "A", "B", "B / A", "95% interval", ""].freeze
        WORDS = [0, 1, 6].freeze # columns
        SAID = { nil => "none", true => "on", false => "off" }.freeze

        module_function

        def render(changes)
          parts = [labs(changes), table(changes), notes(changes)]
          Markup.clean(parts.compact.join("\n\n")) << "\n"
        end

        def labs(changes)
          { "A" => changes.one, "B" => changes.other }.map do |name, results|
            rounds = Units.plural(results.rounds_run, "round")
            duration = Units.duration(results.duration.to_f)
            "#{name}  #{results.directory}  #{results.started_at}, #{rounds} of #{duration}"
          end.join("\n")
        end

        def table(changes)
          return apart(changes.common.apart) if changes.common.apart.any?
          return "The labs have no configuration and load in common." if changes.common.pairs.empty?
          return "Nothing that the labs have in common has valid figures in both." if changes.to_a.empty?

          Columns.align([HEADER, *changes.to_a.map { |change| cells(change) }], left: WORDS)
        end

        def apart(differences)
          "The labs sent different requests, so they can't be compared: #{different(differences)}."
        end

        # "path (/ and /slow), delay (none and 0.02)"
        def different(differences)
          differences.map do |key, values|
            "#{key.tr("_", "-")} (#{values.map { |value| SAID.fetch(value) { value } }.join(" and ")})"
          end.join(", ")
        end

        def cells(change)
          values = [change.one, change.other].map { |value| value(change.measure, value) }
          [change.configuration.name, change.load.name, *values, format("%.3f", change.ratio.value),
           interval(change.ratio), verdict(change)]
        end

        def value(measure, value)
          measure.name == :rate ? "#{Numbers.rate(value)}/s" : "#{measure.name} #{Numbers.milliseconds(value)}"
        end

        def interval(ratio)
          ratio.low ? format("%.3f to %.3f", ratio.low, ratio.high) : Numbers::NONE
        end

        def verdict(change)
          return "too few runs to tell" if change.undecided?
          return "#{Numbers.change(change.ratio.value)}, #{change.better? ? "better" : "worse"}" if change.different?

          "no measurable difference (#{Numbers.effect(change.detectable)} would have been detected)"
        end

        # Other differences between the labs, which the ratios include.
        def notes(changes)
          lines = changes.differences.map { |what, (one, other)| "! the labs differ in #{what}: #{one} and #{other}" }
          lines.concat(faults(changes), unmeasured(changes), unmatched(changes.common))
          lines << "The labs ran at different times, so these ratios include what changed on the machine between them."
          lines.join("\n")
        end

        def unmatched(common)
          lines = common.altered.map do |name, differences|
            "! #{name} is not the same in both labs: #{different(differences)}"
          end
          common.unmatched.zip(%w[A B]) { |names, lab| lines.concat(names.map { |name| "! only #{lab} has #{name}" }) }
          lines
        end

        def unmeasured(changes)
          changes.unmeasured.map do |configuration, load, lab|
            "! #{configuration.name} at #{load.name} is not compared: #{"AB"[lab]} has no valid figure of it"
          end
        end

        # One line for each figure that is not compared.
        def faults(changes)
          changes.faulty.map do |configuration, load, lab|
            "! #{configuration.name} at #{load.name} is not compared: in #{"AB"[lab]}, 1% of its requests or more " \
              "failed, or it was overloaded"
          end
        end
      end
    end
  end
end
