# frozen_string_literal: true

module Cuttle
  class CLI
    class Study
      # `cuttle study … --budget TIME` and `cuttle study missing`: measures for a limited time what is missing, the
      # shortest first, and prints what is still missing. The next sitting continues.
      #
      # Rule: no round begins that would end far beyond the time; so a round seldom has to be measured again.
      class Sitting
        LEAST = 1.0 # seconds that a study gets at least; its first round is made in any case

        # outstanding: called for a new Studies::Outstanding. budget: seconds, or nil only to print. measure: called
        # with an item and the seconds left; returns its Findings.
        def initialize(outstanding, out:, budget: nil, clock: Cuttle.method(:now), &measure)
          @outstanding = outstanding
          @out = out
          @budget = budget
          @clock = clock
          @measure = measure
        end

        # Returns the exit status. Raises Error.
        def run
          deadline = @clock.call + @budget
          status = 0
          @outstanding.call.items.select(&:due?).each_with_index do |item, index|
            left = [deadline - @clock.call, LEAST].max
            next if index.positive? && left < item.seconds
            break status = 130 if stopped?(item, left)
          end
          @out.puts missing
          status
        end

        # The lines that say what is missing.
        def missing
          items = @outstanding.call.items
          return ["Nothing is missing."] if items.empty?

          width = items.map { |item| item.study.name.length }.max + 2
          lines = items.map { |item| "#{item.study.name.ljust(width)}#{line(item)}" }
          due = items.select(&:due?)
          due.any? ? [*lines, "", whole(due)] : lines
        end

        private

        # Measures an item, and returns whether the user ended that. A study that can't be measured here does not keep
        # the others from it.
        def stopped?(item, seconds)
          results = @measure.call(item, seconds).results
          results.interrupted? && !results.paused?
        rescue Error => error
          @out.puts "#{item.study.name}: #{error.message}"
          false
        end

        def line(item)
          reasons = item.reasons.join("; ")
          return "#{reasons}; measured: cuttle study keep #{item.directory}" if item.complete
          return "#{reasons}; to be measured by Ruby #{item.ruby}" if item.ruby

          "#{reasons}; #{minutes(item.left)} for #{Cuttle::Report::Units.plural(item.rounds, "round")}" \
            "#{" of #{item.directory}" if item.directory}"
        end

        def whole(items)
          studies = items.one? ? "1 study" : "#{items.length} studies"
          "#{studies} to measure: #{minutes(items.sum(&:left))}, without further rounds for a precision"
        end

        def minutes(seconds)
          "about #{[(seconds / 60).ceil, 1].max} min"
        end
      end
    end
  end
end
