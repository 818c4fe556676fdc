# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # A page as one HTML file: its style and its drawings are in it, a policy forbids it to load anything, and it
      # holds no script that runs.
      module Sheet
        extend Markup

        POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
        STYLE = File.expand_path("style.css", __dir__)

        module_function

        # A String. content: markup of the body. styles: paths of further style sheets.
        def render(title, maker, *content, styles: [])
          "<!DOCTYPE html>\n#{tag(:html, head(title, maker, [STYLE, *styles]), tag(:body, *content), lang: "en")}\n"
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

        def footer(maker)
          tag(:footer, tag(:p, "Made by #{maker}. This file needs no network."))
        end
      end
    end
  end
end
