# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The changes from one result to another (Load::Changes) as text.
      module Changes
        HEADER = ["", "A", "B", "B / A", "95% interval", ""].freeze
        WORDS = [0, 5].freeze # columns

        module_function

        def render(changes)
          parts = [runs(changes), table(changes), entries(changes), notes(changes)]
          parts.reject(&:empty?).join("\n\n") << "\n"
        end

        def runs(changes)
          { "A" => changes.one, "B" => changes.other }.map do |name, result|
            "#{name}  #{result.settings["url"]}  #{result.settings["load"]}, " \
              "#{Units.duration(result.elapsed)}, #{result.started_at.utc.strftime("%Y-%m-%d %H:%M")} UTC"
          end.join("\n")
        end

        def table(changes)
          Report::Columns.align([HEADER, *changes.rows.map { |row| cells(row) }], left: WORDS)
        end

        # Without intervals.
        def entries(changes)
          return "" if changes.entries.empty?

          rows = changes.entries.map { |row| cells(row).first(4) }
          Report::Columns.align([["by request", *HEADER[1, 3]], *rows])
        end

        def cells(row)
          figures = [row.one, row.other].map { |value| figure(row, value) }
          [row.name, *figures, format("%.3f", row.ratio), interval(row), verdict(row)]
        end

        def figure(row, value)
          row.unit == :rate ? "#{Units.count(value, 1)}/s" : Units.time(value)
        end

        def interval(row)
          row.low ? format("%.3f to %.3f", row.low, row.high) : "n/a"
        end

        def verdict(row)
          return "too few seconds to tell" unless row.low
          return "no measurable difference" unless row.difference?

          percent = ((row.ratio - 1) * 100).abs
          "#{row.ratio > 1 ? "higher" : "lower"} by #{format(percent < 10 ? "%.1f" : "%.0f", percent)}%"
        end

        def notes(changes)
          lines = changes.different_settings.map { |name| "! the runs differ in #{name}: #{both(changes, name)}" }
          enough = Load::Changes::SECONDS
          lines << "! an interval needs #{enough} whole seconds in each run" unless changes.enough_seconds?
          { "A" => changes.one, "B" => changes.other }.each do |name, result|
            lines.concat(result.marks.map { |mark| "! #{name}: #{mark.text}" })
          end
          lines.join("\n")
        end

        def both(changes, name)
          return "other requests" if name == "mix"

          [changes.one, changes.other].map { |result| result.settings[name].inspect.delete('"') }.join(" and ")
        end
      end
    end
  end
end
