# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Limits the time of a running lab. A round does not begin if it would end late, and is stopped if it takes much
      # longer than that. There is no limit until the minimum number of rounds is made.
      class TimeLimit
        FAR = 1.25 # times the budget

        attr_reader :least

        # budget: seconds, or nil for no limit. free: whether there may be more rounds than planned, as many as fit.
        # least: rounds that all configurations get, whatever time that takes.
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

        # How many rounds there may be at most.
        def rounds(planned)
          @free ? Plan::Budget::MOST_ROUNDS : planned
        end

        # How many more rounds there will probably be.
        def rounds_left(planned)
          return planned unless limited? && @next.positive?

          fitting = ((left / @next) + 0.5).floor
          @free ? fitting : [fitting, planned].min
        end

        # The first round always begins.
        def no_room_for_round?
          @made >= @least && short?
        end

        # Whether the next round begins although there is no room for it.
        def late?
          @made < @least && short?
        end

        # Sets how long the next round will take. Otherwise it is expected to take as long as the previous one.
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

        # Measures how long a round takes.
        def round
          @round = elapsed
          yield
        ensure
          @next = elapsed - @round
          @made += 1
        end

        # Whether the round has taken that share of the time that was left when it began.
        def round_took?(share)
          elapsed - @round > (@budget - @round) * share
        end

        # Seconds.
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
