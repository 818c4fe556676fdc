# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # Outcomes in rows: the choice, the present setting, and the alternatives.
      module Table
        HEADER = ["", "requests/s", "p50", "p95", "p99", "memory", "DB connections", ""].freeze

        module_function

        # [[name, Outcome], …] of an Advice, without repeats.
        def outcomes(advice)
          rows = [[advice.choice.setting.name, advice.choice],
                  *([["#{advice.present.setting.name} (you have)", advice.present]] if advice.present),
                  *advice.alternatives.map { |each| [each.setting.name, each] }]
          same = advice.present && advice.choice.setting == advice.present.setting
          (same ? rows.drop(1) : rows).uniq { |_, outcome| outcome.setting }
        end

        # A text table of [[name, Outcome], …], narrow enough for a terminal. It has intervals where a choice depends on
        # them, the load only if it differs between rows, and no empty columns.
        def forecasts(outcomes)
          load = same_load?(outcomes) ? nil : "load"
          rows = outcomes.map do |name, outcome|
            capacity, p50, p95, p99, *rest = cells(outcome)[0..-2]
            [name, written(*capacity), p50.first, p95.first, written(*p99), *rest.map(&:first),
             load && outcome.demand.name]
          end
          table = told([["", *HEADER[1..-2], load], *rows])
          Columns.align(table, left: [0, *(table.first.length - 1 if load)])
        end

        # These rows, the first of which is the header, without columns that say nothing. The block makes a cell's text.
        def told(rows, &text)
          rows.transpose.select do |_, *cells|
            texts = text ? cells.map(&text) : cells
            (texts - [nil, Numbers::NONE]).any?
          end.transpose
        end

        def same_load?(outcomes)
          outcomes.map { |_, outcome| outcome.demand }.uniq.one?
        end

        def written(figure, interval)
          interval ? "#{figure} (#{interval})" : figure
        end

        # A row's cells: [figure, interval or nil] each.
        def cells(outcome)
          [estimate(outcome.capacity, :rate), *times(outcome), [Numbers.size(outcome.memory), nil],
           [Numbers.count(outcome.connections), nil], [Words.source(outcome), nil]]
        end

        def times(outcome)
          %i[p50 p95 p99].map do |name|
            outcome.overloaded? ? ["without end", nil] : estimate(outcome[name], :seconds)
          end
        end

        def estimate(estimate, as)
          return [Numbers::NONE, nil] unless estimate
          return ["without end", nil] unless estimate.value.finite?

          [Numbers.public_send(as, estimate.value), Numbers.interval(estimate, as)]
        end
      end
    end
  end
end
