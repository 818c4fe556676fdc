# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # The advice for a terminal: the answer, then the figures that support it, then the next steps.
      module Text
        module_function

        def render(advice)
          parts = [heading(advice), answer(advice), table(advice), what_ifs(advice), map(advice), changes(advice),
                   checks(advice), warnings(advice), edit(advice), repeat(advice)]
          Markup.clean(parts.compact.join("\n\n")) << "\n"
        end

        def heading(advice)
          "#{advice.app}, tune #{advice.id}, #{Units.plural(advice.cores, "core")} for the server"
        end

        def answer(advice)
          [Words.headline(advice), *Words.sentences(advice)].join("\n")
        end

        def table(advice)
          rows = Table.outcomes(advice).map do |name, outcome|
            [name, *Table.cells(outcome).map { |figure, _| figure }]
          end
          header = Table::HEADER.dup.tap { |cells| cells[0] = "at #{advice.demand.name}" }
          table = Table.told([header, *rows])
          titled(title_of_table(advice), Columns.align(table, left: [0, table.first.length - 1]))
        end

        def title_of_table(advice)
          return "The nearest setting, and your present one:" if advice.kind == :none

          advice.alternatives.empty? ? "No other setting is as good:" : "Settings that are as good, the cheapest first:"
        end

        def what_ifs(advice)
          list("What if", advice.what_ifs.map { |each| Steps.sentence(each, advice.limits) })
        end

        def map(advice)
          map = advice.map or return
          rows = map.workers.zip(map.rows).map do |workers, capacities|
            [Setting.new(engine: map.engine, workers: workers).units,
             *capacities.map { |value| value ? Numbers.rate(value) : Numbers::NONE }]
          end
          titled("#{map.engine}: predicted requests per second, #{Steps.units(map.engine)} by threads",
                 Columns.align([["", *map.threads.map { |threads| "-t #{threads}" }], *rows]))
        end

        def changes(advice)
          list("What would change the answer", advice.changes.map { |each| Words.circumstance(advice, each) })
        end

        def checks(advice)
          return if advice.checks.empty?

          header = %w[setting load figure predicted measured ratio] << ""
          titled("Predicted from the profile alone (90% intervals), and measured (95% intervals)",
                 Columns.align([header, *advice.checks.map { |each| Words.check(each) }], left: [0, 1, 2, 6]))
        end

        def warnings(advice)
          advice.warnings.map { |text| "! #{text}" }.join("\n") unless advice.warnings.empty?
        end

        def edit(advice)
          edit = advice.edit or return
          return edit["refusal"] if edit["refusal"]
          return if edit["diff"].empty?

          [edit["diff"].chomp, "(#{to_make(edit["path"])})", *edit["remark"]].join("\n")
        end

        def to_make(path)
          return "cuttle tune show DIR --write makes this change" unless Edit.pumas?(path)

          "the file is Puma's: cuttle import makes ours of it, which --write can change"
        end

        def repeat(advice)
          "To repeat it: #{Words.command(advice)}"
        end

        def list(title, lines)
          titled(title, lines.map { |line| "  #{line}" }.join("\n")) unless lines.empty?
        end

        def titled(title, text)
          "#{title}\n#{text}"
        end
      end
    end
  end
end
