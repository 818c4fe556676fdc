# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Divides the profile's time among its steps, and says when it is over. A step that needs less leaves the rest to
      # those that follow.
      class Schedule
        # seconds: for everything. stop: returns whether to end at once.
        def initialize(seconds, stop: -> { false }, clock: Cuttle.method(:now))
          @stop = stop
          @clock = clock
          @seconds = seconds
          start
        end

        # The time begins now.
        def start
          @end = @clock.call + seconds
        end

        attr_reader :seconds

        def left
          [@end - @clock.call, 0.0].max
        end

        def stopped?
          @stop.call
        end

        # When a step that gets +share+ of the time that is left has to end.
        def deadline(share)
          @clock.call + left * share
        end

        # Seconds for the first of +steps+ equal steps, each of which first takes +lead+ seconds for its start. If that
        # is less than +least+, later ones have to do without: the first gets the least, or nil if there is no time.
        def slice(steps, lead, least)
          return if left < lead + least

          [left / steps - lead, least].max
        end

        def passed?(deadline)
          stopped? || @clock.call >= deadline
        end
      end
    end
  end
end
