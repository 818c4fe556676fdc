# frozen_string_literal: true

require "json"

module Cuttle
  module Report
    # An HTML page as one file. It contains its style and its drawings. Its policy forbids it to load anything, and it
    # runs no script.
    module Sheet
      extend Markup

      POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
      STYLES = [Charts::STYLE, File.expand_path("style.css", __dir__)].freeze

      module_function

      # The page: a String. content: the body's markup. styles: paths of further style sheets.
      def render(title, maker, *content, styles: [])
        "<!DOCTYPE html>\n#{tag(:html, head(title, maker, [*STYLES, *styles]), tag(:body, *content), lang: "en")}\n"
      end

      def head(title, maker, styles)
        tag(:head, tag(:meta, charset: "utf-8"),
            tag(:meta, http_equiv: "Content-Security-Policy", content: POLICY),
            tag(:meta, name: "viewport", content: "width=device-width, initial-scale=1"),
            tag(:meta, name: "color-scheme", content: "light dark"),
            tag(:meta, name: "generator", content: maker),
            tag(:link, rel: "icon", href: "data:,"),
            tag(:title, title), tag(:style, Markup::Safe.new(styles.map { |path| File.read(path) }.join)))
      end

      # sections: { anchor => [heading, markup] }.
      def main(sections)
        tag(:main, sections.map { |anchor, (heading, content)| section(anchor, heading, content) })
      end

      def section(anchor, heading, content)
        tag(:section, tag(:h2, heading, id: "#{anchor}-heading"), content,
            id: anchor, aria_labelledby: "#{anchor}-heading")
      end

      def contents(sections)
        links = sections.map { |anchor, (heading, _)| tag(:li, tag(:a, heading, href: "##{anchor}")) }
        tag(:nav, tag(:ul, links), aria_label: "Contents")
      end

      # The page's data, as JSON in an element with this id. "<" is escaped in a way that JSON reads back, so no text
      # can end the element.
      def data(id, document)
        json = JSON.generate(document).gsub("<", '\u003c')
        tag(:script, Markup::Safe.new(json), type: "application/json", id: id)
      end

      def footer(maker)
        tag(:footer, tag(:p, "Made by #{maker}. This file works offline."))
      end

      # A paragraph that explains how to read the next part.
      def lead(text)
        tag(:p, text, class: "lead")
      end

      # A table. On a narrow screen, each row is a block, in which each cell shows its column's name; the box scrolls if
      # that is still too wide. rows: Arrays of texts or of complete cells; the first cell of a row is its header.
      def table(caption, header, rows)
        head = tag(:thead, tag(:tr, header.map { |name| tag(:th, name, scope: "col") }))
        body = rows.map do |name, *cells|
          tag(:tr, tag(:th, name, scope: "row"),
              cells.zip(header.drop(1)).map { |cell, label| tag(:td, cell, data_label: label) })
        end
        scrolling(caption, tag(:table, tag(:caption, caption), head, tag(:tbody, body)))
      end

      # The tabindex lets a keyboard scroll the box.
      def scrolling(name, content)
        tag(:div, content, class: "scroll", role: "region", aria_label: name, tabindex: 0)
      end
    end
  end
end
