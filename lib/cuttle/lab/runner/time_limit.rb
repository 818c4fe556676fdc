# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Limits the time of a running lab. A round does not begin if it would end late, and is broken off if it takes
      # much longer than that.
      class TimeLimit
        FAR = 1.25 # times the budget

        # budget: seconds, or nil for no limit. free: whether there may be more rounds than planned, as many as fit.
        def initialize(budget, free: false, clock: Cuttle.method(:now))
          @budget = budget
          @free = free && !budget.nil?
          @clock = clock
          @began = clock.call
          @round = 0
          @next = 0
        end

        def limited?
          !@budget.nil?
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
          limited? && @next.positive? && elapsed + (@next / 2) > @budget
        end

        # Says how long the next round will take. Otherwise it is expected to take as long as the one before.
        def expect(seconds)
          @next = seconds
        end

        # Seconds of the budget; at least 0.
        def left
          [@budget - elapsed, 0].max
        end

        def over?
          !@budget.nil? && elapsed > @budget * FAR
        end

        # Measures how long a round takes.
        def round
          @round = elapsed
          yield
        ensure
          @next = elapsed - @round
        end

        # Whether the round has taken that share of the time that was left when it began.
        def round_took?(share)
          elapsed - @round > (@budget - @round) * share
        end

        # Seconds.
        def elapsed
          @clock.call - @began
        end
      end
    end
  end
end
