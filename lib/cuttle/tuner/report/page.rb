# frozen_string_literal: true

require "json"

module Cuttle
  module Tuner
    module Report
      # The advice as an HTML page. The whole advice is in it as JSON.
      module Page
        extend Markup

        MAKER = "cuttle tune"
        DATA = "cuttle-advice"
        STYLE = File.expand_path("style.css", __dir__)
        INTERVALS = "Below a figure is its interval: 95% where it was measured, 90% where it is predicted."

        # Outcomes by one figure, with their intervals.
        class Bars < Charts::Rows
          def initialize(heading, unit, items, as, &tick)
            super(heading, unit, items)
            @as = as
            @tick = tick
          end

          private

          def scale
            @scale ||= Charts::Scales.around(values, ends, ACROSS, log: false)
          end

          def label(tick)
            @tick.call(tick)
          end
        end

        module_function

        def render(advice)
          sections = sections(advice)
          Sheet.render("#{advice.app}: #{MAKER} #{advice.id}", MAKER, tag(:header, heading(advice), contents(sections)),
                       Sheet.main(sections), Sheet.footer(MAKER), data(advice), styles: [STYLE])
        end

        def heading(advice)
          facts = [advice.taken_at.to_s.sub("T", " ").sub(/(\.\d+)?Z\z/, " UTC"),
                   "#{Units.plural(advice.cores, "core")} for the server"]
          facts << "measured on #{advice.here}" if advice.extrapolated?
          safe(tag(:p, MAKER, class: "brand"), tag(:h1, advice.app.to_s), tag(:p, facts.join(" · "), class: "method"))
        end

        def contents(sections)
          Sheet.contents(sections)
        end

        # { anchor => [heading, markup] }
        def sections(advice)
          { "answer" => ["Answer", answer(advice)], "settings" => ["Settings", settings(advice)],
            "what-if" => ["What if", list(advice.what_ifs.map { |each| Words.what_if(each) })],
            "map" => ["Workers by threads", map(advice)],
            "changes" => ["What would change the answer",
                          list(advice.changes.map { |each| Words.circumstance(advice, each) })],
            "checks" => ["Predicted and measured", checks(advice)], "warnings" => ["Warnings", warnings(advice)],
            "file" => ["Configuration", file(advice)], "repeat" => ["Do it again", code(Words.command(advice))] }
            .select { |_, (_, content)| content }
        end

        def answer(advice)
          safe(tag(:div, tag(:p, Words.headline(advice)), class: "verdict"),
               Words.sentences(advice).map { |sentence| tag(:p, sentence, class: "answer") })
        end

        def settings(advice)
          outcomes = Table.outcomes(advice)
          rows = outcomes.map do |name, outcome|
            [name, *Table.cells(outcome).map { |figure, interval| safe(figure, (tag(:small, interval) if interval)) }]
          end
          header = ["at #{advice.demand.name}", *Table::HEADER.drop(1)]
          safe(Sheet.lead("The cheapest comes first. #{INTERVALS}"),
               Sheet.table("Settings at #{advice.demand.name}", header, rows), charts(advice, outcomes))
        end

        def charts(advice, outcomes)
          rates = bars("Capacity", "requests/s", outcomes, :capacity, :rate) { |tick| Numbers.tick_count(tick) }
          times = bars("p95 at #{advice.demand.name}", "response time", outcomes, :p95, :seconds) do |tick|
            Numbers.tick_time(tick * 1000)
          end
          Charts.grid([rates, times].compact)
        end

        def bars(title, unit, outcomes, figure, as, &tick)
          items = outcomes.filter_map { |name, outcome| item(name, outcome, figure, as) }
          Bars.new(title, unit, items, as, &tick).to_html(title)
        end

        def item(name, outcome, figure, as)
          estimate = outcome[figure]
          return if estimate.nil? || estimate.value.infinite? || (figure != :capacity && outcome.overloaded?)

          text = Numbers.public_send(as, estimate.value)
          Charts::Rows::Item.new(name: name, figure: text, value: estimate, slot: 0, text: "#{name}: #{text}",
                                 hollow: !outcome.measured)
        end

        def map(advice)
          return unless advice.map

          chosen = { "run" => advice.choice.setting, "you have" => advice.present&.setting }.compact
          safe(Sheet.lead("What the model predicts, corrected by what was measured."),
               HeatMap.render(advice.map, chosen))
        end

        def checks(advice)
          return if advice.checks.empty?

          header = ["setting", "load", "figure", "predicted", "measured", "ratio", ""]
          safe(Sheet.lead("Predicted by the profile alone (90% intervals), before anything was verified; measured " \
                          "(95% intervals); the ratio is measured / predicted."),
               Sheet.table("Predicted and measured", header, advice.checks.map { |each| Words.check(each) }))
        end

        def warnings(advice)
          tag(:ul, advice.warnings.map { |text| tag(:li, text) }, class: "warnings") unless advice.warnings.empty?
        end

        def file(advice)
          edit = advice.edit or return
          edit["refusal"] ? tag(:p, edit["refusal"]) : (code(edit["diff"]) unless edit["diff"].empty?)
        end

        def list(lines)
          tag(:ul, lines.map { |line| tag(:li, line) }, class: "plain") unless lines.empty?
        end

        def code(text)
          tag(:pre, tag(:code, text))
        end

        # "<" is written as an escape, which JSON reads back, so no text can end the element.
        def data(advice)
          json = JSON.generate(advice.to_h).gsub("<", '\u003c')
          tag(:script, Markup::Safe.new(json), type: "application/json", id: DATA)
        end
      end
    end
  end
end
