# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The sentences and table cells for a Lab::Analysis::Recommendation, on the terminal and on the page.
      class Recommendation
        ALIKE = "#{(Analysis::Ranking::ALIKE * 100).round}%".freeze
        ROLES = { fastest: "fastest", cheapest: "cheapest of these", best_tail: "best response times" }.freeze
        CHEAPEST = "cheapest of the best" # without a row above it
        MORE = "make more rounds (--rounds, or a longer --budget), or name fewer configurations"

        FLAWED = "had runs that failed or were not valid, or was overloaded"

        def initialize(view)
          @view = view
          @value = view.analysis.recommendation
        end

        def any?
          @value.choices.any?
        end

        # "Run hybrid -t 5: …", or why the lab can't recommend a configuration.
        def sentence
          pick = @value.pick or return doubt

          ["Run #{pick.configuration.name}: #{figures(pick).join(", ")}.", *uncompared].join(" ")
        end

        # What a reader should also know before choosing.
        def notes
          [*reasons, *exception, *@value.choices.filter_map { |choice| equals(choice) }, *flawed, *unclear, *untried,
           *open_loop]
        end

        def header
          ["", "configuration", *measures.map(&:first), "memory", "CPU"]
        end

        # The cells of each choice: Strings.
        def rows
          @value.choices.map do |choice|
            [role(choice), choice.configuration.name, *measures.map { |_, cell| cell.call(choice) },
             Numbers.size(choice.memory), Numbers.microseconds(choice.cpu_us)]
          end
        end

        private

        def role(choice)
          choice.role == :cheapest && @value[:fastest].nil? ? CHEAPEST : ROLES.fetch(choice.role)
        end

        def doubt
          case @value.doubt
          when :control then "#{disagreement}. This lab can't recommend a configuration."
          when :comparisons then "Too few rounds to recommend a configuration: #{advice}."
          when :faults then "No configuration is recommended: each of the best #{FLAWED}."
          end
        end

        def advice
          results = @view.results
          results.interrupted? ? "continue the lab (--resume #{results.directory})" : MORE
        end

        def disagreement
          Analysis::Verdict::Phrases.disagreement(@value.disagreement).sub(/\A./, &:upcase)
        end

        # [heading, a function from a choice to its cell] for each figure that was measured.
        def measures
          [(["requests/s at #{@value.closed.name}", ->(each) { Numbers.rate(each.rate&.value) }] if @value.closed),
           (["p95 at #{@value.open.name}", ->(each) { Numbers.milliseconds(each.p95&.value) }] if @value.open)].compact
        end

        def reasons
          pick = @value.pick or return
          reasons = { fastest: "nothing is measurably faster by #{ALIKE} or more",
                      best_tail: "no p95 is measurably shorter by #{ALIKE} or more" }
          found = reasons.select { |role, _| @value[role]&.covers?(pick.configuration) }.values
          "#{found.join(", and ").sub(/\A./, &:upcase)}." if found.any?
        end

        def uncompared
          count = @value.coverage.uncompared.length
          return if count.zero?

          all = Units.plural(@value.coverage.all.length, "configuration")
          "#{count} of #{all} #{count == 1 ? "was" : "were"} not compared with the best."
        end

        def figures(pick)
          [("#{Numbers.rate(pick.rate.value)} requests/s at #{@value.closed.name}" if pick.rate),
           ("p95 #{Numbers.milliseconds(pick.p95.value)} at #{@value.open.name}" if pick.p95),
           Numbers.size(pick.memory)].compact
        end

        # The configurations that are as good in one respect.
        def equals(choice)
          return if choice.equals.empty?

          what = choice.role == :fastest ? "As fast as" : "Response times as short as those of"
          "#{what} #{choice.configuration.name}: #{choice.equals.map(&:name).join(", ")}."
        end

        # What a user gives up with the pick, if that is proved.
        def exception
          pick, tail = @value.pick, @value.tail
          return unless pick && tail&.configurations(:behind)&.include?(pick.configuration)

          ratio = tail.comparison(pick.configuration).ratio
          format("At %s, its p95 is %.2f times that of %s %s.", tail.load.name, ratio.value,
                 tail.best.configuration.name, Analysis::Verdict::Phrases.interval(ratio))
        end

        def flawed
          names = @value.flawed.map(&:name)
          "Not recommended: #{names.join(", ")}; each #{FLAWED}." if names.any? && @value.pick
        end

        # Names the configurations that may be as good as the best one or not, for each load that decides.
        def unclear
          return unless @value.pick

          [@value.speed, @value.tail].compact.filter_map do |ranking|
            names = ranking.configurations(:unclear).map(&:name)
            next if names.empty?

            "Too few rounds to compare with #{ranking.best.configuration.name} at #{ranking.load.name}: " \
              "#{names.join(", ")}."
          end
        end

        # The sentence names the number of these and of the unclear ones.
        def untried
          names = (@value.coverage&.uncompared.to_a - @value.unclear).map(&:name)
          "Not measured in enough rounds: #{names.join(", ")}." if names.any? && @value.pick
        end

        def open_loop
          return if @value.open

          open = @view.loads.select(&:open?)
          return "Every configuration was overloaded at the given rate." if overloaded?(open)
          return "Too few responses to say how long users wait." if open.any?

          "Response times at a given rate were not measured: add --rate 60%."
        end

        def overloaded?(loads)
          rows = loads.flat_map { |load| @view.rows(load) }.select(&:measured?)
          rows.any? && rows.all?(&:overloaded?)
        end
      end
    end
  end
end
