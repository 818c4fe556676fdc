# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # What came out, in sentences, and how far the measuring itself can be trusted.
        module Verdict
          extend Markup

          HEADING = "Verdict"

          module_function

          def content(view)
            sentences = view.analysis.verdict
            told = [headline(view, sentences), *sentences].compact.uniq.map { |sentence| tag(:p, sentence) }
            safe(tag(:div, told, class: "verdict"), notes(view).map { |note| tag(:p, note, class: "note") })
          end

          # What is said of the load that asks for most.
          def headline(view, sentences)
            return unless view.busiest

            sentences.find { |sentence| sentence.start_with?("at #{view.busiest.name}: ") }
          end

          def notes(view)
            results = view.results
            results.cut.to_a.map { |sentence| "Left out for the time budget: #{sentence}." } +
              results.damages.map { |each| "Line #{each.line} of the results file is lost: #{each.reason}." }
          end
        end
      end
    end
  end
end
