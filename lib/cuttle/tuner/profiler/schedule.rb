# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Divides the profile's time among its steps and detects its end. A step that needs less time leaves the rest to
      # the steps after it.
      class Schedule
        # seconds: for all steps. stop: returns whether to end immediately.
        def initialize(seconds, stop: -> { false }, clock: Cuttle.method(:now))
          @stop = stop
          @clock = clock
          @seconds = seconds
          start
        end

        # Starts the time.
        def start
          @end = @clock.call + @seconds
        end

        def left
          [@end - @clock.call, 0.0].max
        end

        def stopped?
          @stop.call
        end

        # Seconds for the first of +steps+ equal steps, each of which takes +lead+ seconds to start. If that is less
        # than +least+, the first step gets +least+ and later ones get no time; nil if there is not enough time for the
        # first.
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
