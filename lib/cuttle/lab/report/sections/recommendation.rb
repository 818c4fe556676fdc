# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The recommended configuration, at the top of the page.
      module Sections
        register "recommendation", "What to run", at: 5 do |view|
          found = Report::Recommendation.new(view)
          next unless found.any?

          [tag(:div, tag(:p, Verdict.named(view, found.sentence)), class: "verdict"),
           Sheet.table("The best configurations", found.header, found.rows),
           *found.notes.map { |note| tag(:p, Verdict.named(view, note), class: "note") }]
        end
      end
    end
  end
end
