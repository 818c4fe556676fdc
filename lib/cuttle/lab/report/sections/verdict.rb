# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The result in sentences, and notes on what the lab left out or lost.
        module Verdict
          extend Markup

          module_function

          def content(view)
            sentences = view.analysis.verdict
            headline = headline(view, sentences)
            safe(tag(:div, (tag(:p, named(view, headline)) if headline), class: "verdict"),
                 tag(:dl, by_load(view, sentences).map { |each| group(view, *each) }, class: "sentences"),
                 notes(view).map { |note| tag(:p, note, class: "note") })
          end

          # { name of a load, or "the lab" => its sentences without that name }
          def by_load(view, sentences)
            sentences.group_by { |sentence| load_of(view, sentence)&.name || "the lab" }.to_h do |name, of_load|
              [name, of_load.map { |sentence| sentence.delete_prefix("at #{name}: ") }]
            end
          end

          def load_of(view, sentence)
            view.loads.find { |load| sentence.start_with?("at #{load.name}: ") }
          end

          def group(view, name, sentences)
            [tag(:dt, name), sentences.map { |sentence| tag(:dd, named(view, sentence)) }]
          end

          # The sentence with each name of a configuration in bold.
          def named(view, sentence)
            names = view.results.configurations.map(&:name).uniq.sort_by { |name| -name.length }
            pattern = /(?<![\w-])(#{Regexp.union(names)})(?![\w-])/
            safe(sentence.split(pattern).map do |part|
              names.include?(part) ? tag(:b, part, class: "configuration") : part
            end)
          end

          # The first sentence on the busiest load. If a control disagrees: the first of all, which says so.
          def headline(view, sentences)
            return sentences.first if view.analysis.controls.any?(&:different?)

            of_busiest = sentences.find { |sentence| view.busiest && load_of(view, sentence) == view.busiest }
            of_busiest || sentences.first
          end

          def notes(view)
            results = view.results
            results.cut.to_a.map { |sentence| "Left out for the time budget: #{sentence}." } +
              view.left_out.map { |sentence| "Left out #{sentence}." } +
              results.damages.map { |each| "Line #{each.line} of the results file is lost: #{each.reason}." }
          end
        end

        register("verdict", "Verdict", at: 10) { |view| Verdict.content(view) }
      end
    end
  end
end
