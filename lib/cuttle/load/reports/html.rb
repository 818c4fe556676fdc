# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The report as one HTML page that needs no network and no script, in the lab's style and with its charts. Its
      # sections are in files below html/.
      module Html
        PARTS = Report::Parts.new("#{__dir__}/html")

        extend Report::Sections
        extend Report::Markup

        MAKER = "cuttle load"
        STYLE = File.expand_path("html/style.css", __dir__)

        module_function

        def render(result)
          sections = of(result)
          header = tag(:header, heading(result), verdict(result), Report::Sheet.contents(sections))
          Report::Sheet.render("#{result.settings["url"]}: #{MAKER}", MAKER, header, Report::Sheet.main(sections),
                               Report::Sheet.footer(MAKER), styles: [STYLE])
        end

        def heading(result)
          settings = result.settings
          method = [settings["load"], Units.plural(settings["connections"], "connection"),
                    Units.duration(result.elapsed.round(3)), "#{result.started_at.utc.strftime("%Y-%m-%d %H:%M")} UTC"]
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, settings["url"]), tag(:p, method.join(" · "), class: "method"))
        end

        # A summary in one sentence.
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
      end
    end
  end
end
