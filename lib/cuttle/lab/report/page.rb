# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The HTML page of a lab. It contains the raw data as JSON.
      module Page
        extend Markup

        DATA = "cuttle-lab-data"

        module_function

        def render(view)
          sections = Sections.of(view)
          Sheet.render(title(view), "cuttle lab", tag(:header, heading(view), Sheet.contents(sections)),
                       Sheet.main(sections), Sheet.footer("cuttle lab"), Sheet.data(DATA, Document.of(view)))
        end

        def title(view)
          "#{view.app_name}: cuttle lab #{view.results.id}"
        end

        def heading(view)
          method = [started(view), *view.scope].join(" · ")
          safe(tag(:p, "cuttle lab", class: "brand"), tag(:h1, view.app), tag(:p, method, class: "method"))
        end

        # "2026-11-21 10:55:00 UTC"
        def started(view)
          view.results.started_at.to_s.sub("T", " ").sub(/(\.\d+)?Z\z/, " UTC")
        end
      end
    end
  end
end
