# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # One HTML page over studies: first the verdicts on all claims, then a section for each study.
      module Page
        extend Markup

        TITLE = "What the field believed, and what we found"
        MAKER = "cuttle study"
        STYLE = File.expand_path("style.css", __dir__)
        CLAIMS = "Published claims"

        module_function

        # all: Findings of one study each. A String.
        def render(all)
          sections = sections(all)
          Sheet.render(TITLE, MAKER, tag(:header, heading(all), contents(sections)), Sheet.main(sections),
                       Sheet.footer(MAKER), styles: [STYLE])
        end

        # { anchor => [heading, content] }
        def sections(all)
          claims = claims(Summary.new(all))
          studies = all.to_h do |findings|
            study = findings.study
            [study.name, ["#{study.name}: #{study.title}", Section.content(findings)]]
          end
          claims ? { "claims" => [CLAIMS, claims], **studies } : studies
        end

        def heading(all)
          dates = all.map { |findings| Conditions.date(findings) }.uniq.sort
          measured = "#{all.length} #{all.one? ? "study" : "studies"} · measured #{dates.minmax.uniq.join(" to ")}"
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, TITLE), tag(:p, measured, class: "method"))
        end

        # Only the names, because titles are long.
        def contents(sections)
          short = sections.to_h { |anchor, (heading, _)| [anchor, [heading == CLAIMS ? heading : anchor]] }
          Sheet.contents(short)
        end

        def claims(summary)
          return if summary.published.empty?

          rows = summary.published.map do |line|
            [tag(:a, line.claim.id, href: "##{line.study.name}"), line.claim.text, words(line), line.evidence]
          end
          safe(tag(:div, tag(:p, summary.sentence), class: "verdict"),
               Sheet.table(CLAIMS, ["", "what was published", "verdict", "evidence"], rows))
        end

        # The verdict on our core, and below it those on other servers.
        def words(line)
          main = line.main
          [Section.word(main), *(tag(:small, "on #{main.by}") if main.by),
           (line.verdicts - [main]).map { |each| tag(:small, [each.word, each.by].compact.join(" on ")) }]
        end
      end
    end
  end
end
