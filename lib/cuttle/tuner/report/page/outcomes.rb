# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      module Page
        # The settings' figures under the demand: a table, and a chart of each figure that decides.
        class Outcomes
          include Markup

          def initialize(advice)
            @demand = advice.demand.name
            @outcomes = Table.outcomes(advice)
          end

          def table
            rows = @outcomes.map do |name, outcome|
              [name, *Table.cells(outcome).map { |figure, interval| [figure, *(tag(:small, interval) if interval)] }]
            end
            header, *told = Table.told([["at #{@demand}", *Table::HEADER.drop(1)], *rows]) { |cell| Array(cell).first }
            Sheet.table("Settings at #{@demand}", header, told)
          end

          def charts
            rates = chart("Capacity", "requests/s", :capacity, :rate, &Numbers.method(:tick_count))
            times = chart("p95 at #{@demand}", "response time", :p95, :seconds) do |seconds|
              Numbers.tick_time(seconds * 1000)
            end
            Charts.grid([rates, times].compact)
          end

          private

          # Nil if no outcome has the figure. The block makes the label of a tick.
          def chart(title, unit, figure, as, &tick)
            items = @outcomes.filter_map { |name, outcome| item(name, outcome, figure, as) }
            Charts::Rows.new(title, unit, items, &tick).to_html(title)
          end

          def item(name, outcome, figure, as)
            estimate = outcome[figure]
            return if estimate.nil? || estimate.value.infinite? || (figure != :capacity && outcome.overloaded?)

            text = Numbers.public_send(as, estimate.value)
            Charts::Rows::Item.new(name: name, figure: text, value: estimate, slot: 0, text: "#{name}: #{text}",
                                   hollow: !outcome.measured?(figure))
          end
        end

        register "settings", "Settings", at: 20,
                 lead: "The answer, what you have, and settings that are as good, the cheapest first. Below each " \
                       "figure is its interval: 95% if it was measured, 90% if it is predicted. \"Without end\": " \
                       "requests arrive faster than that setting serves them." do |advice|
          outcomes = Outcomes.new(advice)
          [outcomes.table, outcomes.charts]
        end
      end
    end
  end
end
