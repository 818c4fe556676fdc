# frozen_string_literal: true

module Cuttle
  module Tuner
    class Session
      # The time of a tune, in seconds. It passes from the Budget's creation on, except while other labs are waited for.
      class Budget
        SPARE = 5 # for the answer, besides simulations

        # seconds: of the whole tune. profile: the share of them that the profile takes; nil if it was there before.
        def initialize(seconds, profile:)
          @seconds = seconds
          @profile = profile
          @began = now
          @searching = 0
          @pace = 1.0 # how many times as long as planned a measurement took
        end

        # Runs the block, a search, and returns its value. The answer simulates for about as long.
        def search
          before = now
          yield.tap { @searching = now - before }
        end

        # Runs the block: a measurement that returns its results, and how many seconds were planned for them. Returns
        # the results.
        def measure
          before = now
          results, planned = yield
          @pace = [(now - before) / planned, 1.0].max
          results
        end

        # What is left for measurements.
        def left
          @seconds - (now - @began) - SPARE - @searching
        end

        # The same for a measurement that begins in any case. Rounds that the user asked for run even if no time is
        # left.
        def for_measurement
          [left, 1].max
        end

        # Seconds that may be planned for one more measurement, if it takes as much longer as the last one.
        def further
          left / @pace
        end

        # The budget with which an interrupted tune verifies, if the search takes twice as long. least: seconds of the
        # verification.
        def to_resume(least)
          [(SPARE + (4 * @searching) + least + 1).ceil, Options::LEAST_BUDGET].max
        end

        # The budget with which a new tune does, or nil: how long the profile took is unknown if it was there before.
        def to_repeat(least)
          (@seconds + ((least + (2 * @searching) + 1 - left) / (1 - @profile))).ceil if @profile
        end

        private

        def now
          Cuttle.now - Lab::Runner::Lock.waited
        end
      end
    end
  end
end
