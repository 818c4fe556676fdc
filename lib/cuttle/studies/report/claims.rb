# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The chart of the claims: the ratio of each statement with its interval, and the claimed range shaded.
      module Claims
        TITLE = "What was claimed, measured"
        # The series whose look a statement's verdict has.
        SLOTS = { confirmed: 2, refuted: 1, border: 3, undecided: 0 }.freeze

        module_function

        # A figure, or nil if nothing was measured.
        def chart(verdicts)
          items = verdicts.flat_map do |verdict|
            verdict.evidence.filter_map { |each| item(verdict, each) if each.found&.value&.positive? }
          end
          slots = items.map(&:slot)
          legend = Verdicts::WORDS.filter_map { |key, word| [SLOTS[key], word] if slots.include?(SLOTS[key]) }
          Chart.new(TITLE, "ratio; the claimed range is shaded", items, radius: 4.2).to_html(TITLE, legend: legend)
        end

        def item(verdict, tested)
          statement, found, decided = *tested
          slot = SLOTS.fetch(decided)
          name = "#{verdict.claim.id} #{statement.text}#{", on #{verdict.by}" unless verdict.by == Summary::OURS}"
          figure = Figures.measured(statement, found)
          Cuttle::Report::Charts::Rows::Item.new(
            name: name, figure: figure, value: found, slot: slot, hollow: slot.zero?, range: statement.range,
            text: "#{name}: #{figure}, #{Figures.expected(statement)}: #{verdict.of(decided)}"
          )
        end

        # A chart whose description includes the verdicts.
        class Chart < Cuttle::Report::Charts::Ratios
          private

          def description
            @items.map { |item| "#{item.text}." }.join(" ")
          end
        end
        private_constant :Chart
      end
    end
  end
end
