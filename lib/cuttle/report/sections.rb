# frozen_string_literal: true

module Cuttle
  module Report
    # The sections of a page. A section registers itself in a file of the page's folder, with its heading and its
    # position; a new section is one new file. A page is a module that extends this one and has PARTS for the folder:
    #
    #   register "memory", "Memory", at: 90, lead: "How to read the charts." do |view|
    #     grid(view) { |load| Memory.new(view, load).to_html(load.name) }
    #   end
    module Sections
      # content: called with the page's subject; returns markup, or nothing if there is nothing to show.
      Section = Struct.new(:heading, :lead, :content)

      # Registers a section. anchor: its name in the page's links. at: its position. lead: the paragraph before the
      # content, or nil.
      def register(anchor, heading, at:, lead: nil, &content)
        self::PARTS.add(anchor, Section.new(heading, lead, content), at: at)
      end

      # { anchor => [heading, markup] } of the sections with content for +subject+, in order.
      def of(subject)
        self::PARTS.to_h.filter_map do |anchor, section|
          content = [*section.content.call(subject)]
          lead = Sheet.lead(section.lead) if section.lead
          [anchor, [section.heading, Markup.safe(lead, content)]] if content.any?
        end.to_h
      end
    end
  end
end
