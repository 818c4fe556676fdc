# frozen_string_literal: true

module Cuttle
  module Lab
    module Machine
      # Measures the speed of the servers' cores, relative to their usual speed in this lab. On a virtual machine, a
      # core may be half as fast for seconds, because of its neighbours on the same hardware, and no system clock shows
      # it. A run waits until such a phase has passed. A run during such a phase is repeated.
      #
      # Rule: nothing here depends on the results of the runs.
      class CoreSpeed
        SLOW = 0.8 # share of the usual speed; below it a core is slow
        MOMENT = 4 # ms of computing on a core, for one measurement
        MOST_CORES = 4 # number of cores that are measured
        KNOWN = 101 # measurements; their median is the usual speed
        FIRST = 9 # measurements before the first run
        PAUSE = 0.05 # seconds between two measurements
        PATIENCE = 15 # most seconds that one run waits
        LIMIT = 60 # most seconds that all runs together wait, without another limit

        LOOK = ->(core) { Load::Parts.core_speed(core, MOMENT) }

        def self.slow?(speed)
          !speed.nil? && speed < SLOW
        end

        # Seconds that all runs together have waited.
        attr_reader :waited

        # give_up: returns whether to stop waiting. look: called with a core, returns its current speed in any unit, or
        # nil if it can't be measured. limit: the most seconds that all runs together wait. clock: in seconds.
        def initialize(cores, give_up: -> { false }, look: LOOK, pause: ->(seconds) { sleep(seconds) }, limit: LIMIT,
                       clock: -> { Cuttle.now })
          @give_up = give_up
          @look = look
          @pause = pause
          @clock = clock
          @known = cores.server.first(MOST_CORES).to_h { |core| [core, []] }
          @limit = limit.to_f
          @waited = 0.0
          FIRST.times { now.tap { @pause.call(PAUSE) } }
        end

        # The speed of the slowest core relative to the usual speed: 1.0 is usual, 0.5 is half as fast. nil if it can't
        # be measured.
        def now
          look { |speeds, speed| remember(speeds, speed) }
        end

        # Returns when no core is slow, or after PATIENCE. Speeds measured meanwhile don't count as usual.
        def await
          return unless CoreSpeed.slow?(look)

          began = @clock.call
          most = [PATIENCE, left].min
          until @give_up.call || @clock.call - began >= most
            @pause.call(PAUSE)
            break unless CoreSpeed.slow?(look)
          end
          @waited += @clock.call - began
        end

        # Seconds that they may still wait.
        def left
          [@limit - @waited, 0.0].max
        end

        private

        def look
          found = @known.filter_map do |core, speeds|
            speed = @look.call(core) or next
            yield speeds, speed if block_given?
            speed.fdiv(speeds.sort[speeds.length / 2])
          end
          found.min
        end

        def remember(speeds, speed)
          speeds.push(speed)
          speeds.shift if speeds.length > KNOWN
        end
      end
    end
  end
end
