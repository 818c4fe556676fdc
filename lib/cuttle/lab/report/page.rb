# frozen_string_literal: true

require "json"

module Cuttle
  module Lab
    module Report
      # The report as one HTML file: its style and its drawings are in it, a policy forbids it to load anything, and it
      # holds no script that runs. The raw data is in it as JSON.
      module Page
        extend Markup

        POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
        STYLE = File.expand_path("style.css", __dir__)
        DATA = "cuttle-lab-data"

        module_function

        def render(view)
          "<!DOCTYPE html>\n#{tag(:html, head(view), body(view), lang: "en")}\n"
        end

        def head(view)
          tag(:head, tag(:meta, charset: "utf-8"),
              tag(:meta, http_equiv: "Content-Security-Policy", content: POLICY),
              tag(:meta, name: "viewport", content: "width=device-width, initial-scale=1"),
              tag(:meta, name: "color-scheme", content: "light dark"),
              tag(:meta, name: "generator", content: "cuttle lab"),
              tag(:link, rel: "icon", href: "data:,"),
              tag(:title, title(view)), tag(:style, Markup::Safe.new(File.read(STYLE))))
        end

        def body(view)
          sections = Sections.of(view)
          tag(:body, tag(:header, heading(view), contents(sections)),
              tag(:main, sections.map { |anchor, (heading, content)| section(anchor, heading, content) }),
              tag(:footer, tag(:p, "Made by cuttle lab. This file needs no network.")), data(view))
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

        def contents(sections)
          links = sections.map { |anchor, (heading, _)| tag(:li, tag(:a, heading, href: "##{anchor}")) }
          tag(:nav, tag(:ul, links), aria_label: "Contents")
        end

        def section(anchor, heading, content)
          tag(:section, tag(:h2, heading, id: "#{anchor}-heading"), content,
              id: anchor, aria_labelledby: "#{anchor}-heading")
        end

        # No text in it can end the element: "<" is written as an escape, which JSON reads back.
        def data(view)
          json = JSON.generate(Document.of(view)).gsub("<", '\u003c')
          tag(:script, Markup::Safe.new(json), type: "application/json", id: DATA)
        end
      end
    end
  end
end
