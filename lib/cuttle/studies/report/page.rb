# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # One HTML page about studies: first the verdicts on all claims, then a section for each study.
      module Page
        extend Markup

        TITLE = "What the field believed, and what we found"
        MAKER = "cuttle study"
        STYLE = File.expand_path("style.css", __dir__)
        CLAIMS = "Published claims"
        BELIEFS = "What to believe now"
        FIRST = [BELIEFS, Threats::TITLE, CLAIMS].freeze

        module_function

        # all: the Findings of each study. again: further Findings, with other Rubies. beliefs: Beliefs::Sentences.
        # Returns a String.
        def render(all, again: [], beliefs: [])
          sections = sections(all, again, beliefs)
          Sheet.render(TITLE, MAKER, tag(:header, heading(all), contents(sections)), Sheet.main(sections),
                       Sheet.footer(MAKER), styles: [STYLE])
        end

        # { anchor => [heading, content] }
        def sections(all, again, beliefs)
          summary = Summary.new(all, again: again)
          first = { "beliefs" => [BELIEFS, believed(summary.beliefs(beliefs))],
                    "threats" => [Threats::TITLE, tag(:ul, items(Threats.of(all, again: again)), class: "flaws")],
                    "claims" => [CLAIMS, claims(summary)] }
          studies = all.to_h do |findings|
            study = findings.study
            [study.name, ["#{study.name}: #{study.title}", Section.content(findings)]]
          end
          first.select { |_, (_, content)| content }.merge(studies)
        end

        def items(texts)
          texts.map { |text| tag(:li, text) }
        end

        # Each sentence, with the verdict and the evidence that it is based on.
        def believed(pairs)
          return if pairs.empty?

          sentences = pairs.map do |sentence, line|
            tag(:li, tag(:p, sentence.text), Section.word(line.main),
                " ", tag(:a, line.claim.id, href: "##{line.study.name}"), tag(:small, line.evidence))
          end
          tag(:ol, sentences, class: "beliefs")
        end

        def heading(all)
          dates = all.map { |findings| Conditions.date(findings) }.uniq.sort
          measured = "#{all.length} #{all.one? ? "study" : "studies"} · measured #{dates.minmax.uniq.join(" to ")}"
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, TITLE), tag(:p, measured, class: "method"))
        end

        # Only the names, because titles are long.
        def contents(sections)
          short = sections.to_h { |anchor, (heading, _)| [anchor, [FIRST.include?(heading) ? heading : anchor]] }
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

        # The verdict on Cuttle, and below it those on other servers and with other Rubies.
        def words(line)
          main = line.main
          [Section.word(main), *(tag(:small, "on #{main.by}") if main.by),
           (line.verdicts - [main]).map { |each| tag(:small, [each.word, each.by].compact.join(" on ")) },
           line.elsewhere.map { |each| tag(:small, each) }]
        end
      end
    end
  end
end
