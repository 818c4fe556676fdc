# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      module Html
        # The page's tables. They are narrow: few columns, and a row for each percentile.
        module Tables
          extend Report::Markup

          ENTRY = [50, 95, 99].freeze # percentiles by request

          HIDDEN = %w[schedule mix url].freeze # settings that the page shows elsewhere, or that are long

          module_function

          # Nil if there are none.
          def times(result)
            columns = Text.rows_of(result).map { |name, histogram| [name.strip, *Text.figures(result, histogram)] }
            names = ["time", *Result::PERCENTILES.map { |percentile| "p#{percentile}" }, *Text::COLUMNS]
            header, *rows = [names, *columns].transpose
            rows = rows.reject { |_, *cells| cells.uniq == ["n/a"] }
            table("Times", header, rows) if rows.any?
          end

          # Nil if all requests have one name.
          def entries(result)
            return if result.entries.empty?

            header = ["request", "responses", "errors", *ENTRY.map { |percentile| "p#{percentile}" }]
            table("Response times by request", header, result.entries.map { |entry| entry_row(result, entry) })
          end

          def entry_row(result, entry)
            times = ENTRY.map { |percentile| Text.time_or_na(result.percentile(percentile, entry.latency)) }
            [entry.name, Units.count(entry.responses), Units.count(entry.failures), *times]
          end

          def answers(result)
            statuses = result.statuses.map { |status, count| [status.to_s, *shares(count, result.responses)] }
            errors = result.errors.select { |_, count| count.positive? }
                           .map { |name, count| [Text::ERRORS.fetch(name), *shares(count, result.arrivals)] }
            safe((table("Responses by status", %w[status responses share], statuses) if statuses.any?),
                 errors.any? ? table("Errors", %w[error requests share], errors) : tag(:p, "There were no errors."))
          end

          def settings(result)
            settings = result.settings.except(*HIDDEN).reject { |_, value| [nil, false, 0, []].include?(value) }
            machine = result.environment.except("agents").compact
            safe(table("Settings", %w[setting value], plain(settings)),
                 table("Machine", %w[what value], plain(machine)))
          end

          def plain(hash)
            hash.map { |name, value| [name.tr("_", " "), value.is_a?(Array) ? value.join(", ") : value.to_s] }
          end

          def shares(count, whole)
            [Units.count(count), whole.positive? ? "#{format("%.3g", 100.0 * count / whole)}%" : "n/a"]
          end

          def table(caption, header, rows)
            Report::Sheet.table(caption, header, rows)
          end
        end

        register "validity", "Validity", at: 10 do |result|
          next tag(:p, "There are no warnings.") if result.marks.empty?

          tag(:ul, result.marks.map { |mark| tag(:li, mark.text) }, class: "warnings")
        end

        register("times", "Times", at: 40,
                 lead: "Response times are from the intended time of a request, service times from its sending. A " \
                       "percentile is left out if fewer than ten values lie beyond it.") do |result|
          Tables.times(result)
        end

        register("requests", "By request", at: 50) { |result| Tables.entries(result) }
        register("answers", "Statuses and errors", at: 60) { |result| Tables.answers(result) }
        register("settings", "Settings and machine", at: 70) { |result| Tables.settings(result) }
      end
    end
  end
end
