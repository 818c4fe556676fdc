# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The parts of the page, a module each: HEADING, and content(view), which returns markup, or nil where there is
      # nothing to say.
      module Sections
        autoload :Curves, "cuttle/lab/report/sections/curves"
        autoload :Dots, "cuttle/lab/report/sections/dots"
        autoload :Environment, "cuttle/lab/report/sections/environment"
        autoload :Errors, "cuttle/lab/report/sections/errors"
        autoload :Fairness, "cuttle/lab/report/sections/fairness"
        autoload :Forest, "cuttle/lab/report/sections/forest"
        autoload :Memory, "cuttle/lab/report/sections/memory"
        autoload :Missing, "cuttle/lab/report/sections/missing"
        autoload :Percentiles, "cuttle/lab/report/sections/percentiles"
        autoload :Reproduce, "cuttle/lab/report/sections/reproduce"
        autoload :Table, "cuttle/lab/report/sections/table"
        autoload :Throughput, "cuttle/lab/report/sections/throughput"
        autoload :Timeline, "cuttle/lab/report/sections/timeline"
        autoload :Times, "cuttle/lab/report/sections/times"
        autoload :Validity, "cuttle/lab/report/sections/validity"
        autoload :Verdict, "cuttle/lab/report/sections/verdict"
        autoload :Warnings, "cuttle/lab/report/sections/warnings"

        # By the anchors of the page, in its order.
        ALL = {
          "verdict" => :Verdict, "warnings" => :Warnings, "table" => :Table, "ratios" => :Forest,
          "throughput" => :Throughput, "times" => :Times, "percentiles" => :Percentiles, "over-time" => :Timeline,
          "memory" => :Memory, "runs" => :Dots, "errors" => :Errors, "validity" => :Validity, "missing" => :Missing,
          "fairness" => :Fairness, "environment" => :Environment, "reproduce" => :Reproduce
        }.freeze

        extend Markup

        module_function

        # { anchor => [heading, content] } of those that have something to say.
        def of(view)
          ALL.filter_map do |anchor, name|
            section = const_get(name)
            content = section.content(view)
            [anchor, [section::HEADING, content]] if content
          end.to_h
        end

        # A paragraph that tells how to read what follows.
        def lead(text)
          tag(:p, text, class: "lead")
        end

        # A table as wide as it is, in a box that scrolls where the page is narrower. rows: Arrays of texts or of
        # whole cells; the first one is the row's head.
        def table(caption, header, rows)
          head = tag(:thead, tag(:tr, header.map { |name| tag(:th, name, scope: "col") }))
          body = rows.map do |name, *cells|
            tag(:tr, tag(:th, name, scope: "row"), cells.map { |cell| tag(:td, cell) })
          end
          scrolling(caption, tag(:table, tag(:caption, caption), head, tag(:tbody, body)))
        end

        # With a tabindex, for it is scrolled by keys too.
        def scrolling(name, content)
          tag(:div, content, class: "scroll", role: "region", aria_label: name, tabindex: 0)
        end

        # Charts of each load: the busiest one's in full view, the others' folded away.
        def by_load(view)
          [view.busiest, *view.loads].compact.uniq.filter_map do |load|
            content = yield load
            next unless content
            next safe(tag(:h3, load.name), content) if load == view.busiest

            tag(:details, tag(:summary, load.name), content, class: "load")
          end
        end
      end
    end
  end
end
