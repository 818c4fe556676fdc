# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Limits the time of a running lab. A round begins if at least half of it fits into the budget. A round that is
      # still running after FAR times the budget is stopped. There is no limit until the least number of rounds is
      # complete.
      class TimeLimit
        FAR = 1.25 # times the budget

        attr_reader :least

        # budget: seconds, or nil for no limit. free: whether to make more rounds than planned if they fit. least:
        # rounds that all configurations get, whatever time they take.
        def initialize(budget, free: false, least: 0, clock: Cuttle.method(:now))
          @budget = budget
          @free = free && !budget.nil?
          @least = least
          @made = 0
          @clock = clock
          @began = clock.call
          @round = 0
          @next = 0
        end

        def limited?
          !@budget.nil?
        end

        # Whether configurations may be left out to save time.
        def sheds?
          limited? && @least.zero?
        end

        # The largest possible number of rounds.
        def rounds(planned)
          @free ? Plan::Budget::MOST_ROUNDS : planned
        end

        # The expected number of remaining rounds.
        def rounds_left(planned)
          return planned unless limited? && @next.positive?

          fitting = ((left / @next) + 0.5).floor
          @free ? fitting : [fitting, planned].min
        end

        # The first round always begins.
        def no_room_for_round?
          @made >= @least && short?
        end

        # Whether the next round begins although there is no time for it.
        def late?
          @made < @least && short?
        end

        # Sets the expected duration of the next round. The default is the duration of the previous one.
        def expect(seconds)
          @next = seconds
        end

        # Seconds of the budget; at least 0.
        def left
          [@budget - elapsed, 0].max
        end

        def over?
          limited? && @made >= @least && elapsed > @budget * FAR
        end

        # Measures the duration of a round.
        def round
          @round = elapsed
          yield
        ensure
          @next = elapsed - @round
          @made += 1
        end

        # Takes seconds from the expected duration of the next round, because they won't come again.
        def once(seconds)
          @next -= seconds
        end

        # Counts a round that the results have already.
        def skip
          @made += 1
        end

        # Whether the round has taken that share of the time that was left when it began.
        def round_took?(share)
          elapsed - @round > (@budget - @round) * share
        end

        # Elapsed seconds.
        def elapsed
          @clock.call - @began
        end

        private

        def short?
          limited? && @next.positive? && elapsed + (@next / 2) > @budget
        end
      end
    end
  end
end
