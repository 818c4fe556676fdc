# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The sections of the page. A section registers itself in a file below sections/, with its heading and its
      # position; a new section is one new file.
      #
      #   register "memory", "Memory", at: 90, lead: "How to read the charts." do |view|
      #     grid(view) { |load| Memory.new(view, load).to_html(load.name) }
      #   end
      module Sections
        # content: called with the View; returns markup, or nothing if there is nothing to show.
        Section = Struct.new(:heading, :lead, :content)
        PARTS = Cuttle::Report::Parts.new("#{__dir__}/sections")

        extend Markup

        module_function

        # Registers a section. anchor: its name in the page's links. at: its position. lead: the paragraph before the
        # content, or nil.
        def register(anchor, heading, at:, lead: nil, &content)
          PARTS.add(anchor, Section.new(heading, lead, content), at: at)
        end

        # { anchor => [heading, markup] } of the sections that have something to show, in order.
        def of(view)
          PARTS.to_h.filter_map do |anchor, section|
            content = [*section.content.call(view)]
            [anchor, [section.heading, safe((Sheet.lead(section.lead) if section.lead), content)]] if content.any?
          end.to_h
        end

        # One chart of each load, side by side; nil if there is none.
        def grid(view, &chart)
          charts = view.loads.filter_map(&chart)
          Charts.grid(charts) if charts.any?
        end

        # The charts of each load: those of the busiest load are open, the others are folded.
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
