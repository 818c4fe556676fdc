# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # The advice as an HTML page, which contains the whole advice as JSON. Sections that are lists are in this file,
      # the others in files below page/.
      module Page
        PARTS = Cuttle::Report::Parts.new("#{__dir__}/page")

        extend Cuttle::Report::Sections
        extend Markup

        MAKER = "cuttle tune"
        DATA = "cuttle-advice"
        STYLE = File.expand_path("style.css", __dir__)

        register "answer", "Answer", at: 10 do |advice|
          [tag(:div, tag(:p, Words.headline(advice)), class: "verdict"),
           *Words.sentences(advice).map { |sentence| tag(:p, sentence, class: "answer") }]
        end

        register "what-if", "What if", at: 30 do |advice|
          list(advice.what_ifs.map { |each| Steps.sentence(each, advice.limits) })
        end

        register "map", "Workers by threads", at: 40,
                 lead: "The model's predictions, corrected by the measurements." do |advice|
          have = advice.present&.setting
          have = nil if advice.capped && have&.auto? # the map has auto with a higher limit
          chosen = { "run" => advice.choice.setting, "you have" => have }.compact
          HeatMap.render(advice.map, chosen) if advice.map
        end

        register "changes", "What would change the answer", at: 50 do |advice|
          list(advice.changes.map { |each| Words.circumstance(advice, each) })
        end

        register "checks", "Predicted and measured", at: 60,
                 lead: "Predicted from the profile alone, before any verification (90% intervals); measured (95% " \
                       "intervals); ratio: measured / predicted." do |advice|
          header = ["setting", "load", "figure", "predicted", "measured", "ratio", ""]
          rows = advice.checks.map { |each| Words.check(each) }
          Sheet.table("Predicted and measured", header, rows) if rows.any?
        end

        register("warnings", "Warnings", at: 70) { |advice| list(advice.warnings, "warnings") }

        register "file", "Configuration", at: 80 do |advice|
          edit = advice.edit or next
          next tag(:p, edit["refusal"]) if edit["refusal"]

          [code(edit["diff"]), (tag(:p, edit["remark"]) if edit["remark"])] unless edit["diff"].empty?
        end

        register("repeat", "Repeat it", at: 90) { |advice| code(Words.command(advice)) }

        module_function

        def render(advice)
          sections = of(advice)
          header = tag(:header, heading(advice), Sheet.contents(sections))
          Sheet.render("#{advice.app}: #{MAKER} #{advice.id}", MAKER, header, Sheet.main(sections),
                       Sheet.footer(MAKER), Sheet.data(DATA, advice.to_h), styles: [STYLE])
        end

        def heading(advice)
          facts = [advice.taken_at.to_s.sub("T", " ").sub(/(\.\d+)?Z\z/, " UTC"),
                   "#{Units.plural(advice.cores, "core")} for the server"]
          facts << "measured on #{advice.here}" if advice.extrapolated?
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, advice.app.to_s), tag(:p, facts.join(" · "), class: "method"))
        end

        # Nil if there is no line.
        def list(lines, style = "plain")
          tag(:ul, lines.map { |line| tag(:li, line) }, class: style) if lines.any?
        end

        def code(text)
          tag(:pre, tag(:code, text))
        end
      end
    end
  end
end
