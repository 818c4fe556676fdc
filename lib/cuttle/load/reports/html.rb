# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The report as one HTML page, which needs no network and no script: the lab's style and charts.
      module Html
        autoload :Graphs, "cuttle/load/reports/html/graphs"
        autoload :Tables, "cuttle/load/reports/html/tables"

        extend Report::Markup

        MAKER = "cuttle load"
        STYLE = File.expand_path("html/style.css", __dir__)

        module_function

        def render(result)
          sections = sections(result).select { |_, (_, content)| content }
          header = tag(:header, heading(result), verdict(result), Report::Sheet.contents(sections))
          Report::Sheet.render("#{result.settings["url"]}: #{MAKER}", MAKER, header, Report::Sheet.main(sections),
                               Report::Sheet.footer(MAKER), styles: [STYLE])
        end

        # { anchor => [heading, markup, or nil if there is nothing to show] }
        def sections(result)
          {
            "validity" => ["Validity", marks(result)],
            "over-time" => ["Over time", Graphs.over_time(result)],
            "percentiles" => ["Percentiles", Graphs.percentiles(result)],
            "times" => ["Times", safe(Report::Sheet.lead(TIMES_LEAD), Tables.times(result))],
            "requests" => ["By request", Tables.entries(result)],
            "answers" => ["Statuses and errors", Tables.answers(result)],
            "settings" => ["Settings and machine", Tables.settings(result)]
          }
        end

        TIMES_LEAD = "Response times run from the time that a request was meant for, service times from its sending. " \
                     "A percentile is left out where fewer than ten values lie beyond it."

        def heading(result)
          settings = result.settings
          method = [settings["load"], Units.plural(settings["connections"], "connection"),
                    Units.duration(result.elapsed.round(3)), "#{result.started_at.utc.strftime("%Y-%m-%d %H:%M")} UTC"]
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, settings["url"]), tag(:p, method.join(" · "), class: "method"))
        end

        # What a reader in a hurry needs.
        def verdict(result)
          tag(:div, tag(:p, speed(result)), tag(:p, goodness(result)), class: "verdict")
        end

        def speed(result)
          times = [50, 95, 99].filter_map do |percentile|
            time = result.percentile(percentile) and "p#{percentile} #{Units.time(time)}"
          end
          offered = result.offered && result.elapsed.positive?
          rate = "#{Units.count(result.rate, 1)} responses/s"
          rate = "#{rate} of #{Units.count(result.offered / result.elapsed, 1)}/s offered" if offered
          [rate, *times].join(", ") << "."
        end

        def goodness(result)
          return "No request failed." if result.failures.zero?

          failed = "#{Units.plural(result.failures, "request")} failed"
          tag(:span, "#{failed}; #{Units.count(result.good_rate, 1)} responses/s were good.", class: "bad")
        end

        def marks(result)
          return tag(:p, "There are no marks against these figures.") if result.marks.empty?

          tag(:ul, result.marks.map { |mark| tag(:li, mark.text) }, class: "warnings")
        end
      end
    end
  end
end
