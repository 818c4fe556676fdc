# frozen_string_literal: true

module Cuttle
  module Lab
    module Machine
      # How fast the servers' cores are, beside what they usually are in this lab. On a virtual machine they may be half as
      # fast for seconds, because of what others do on the same silicon, and no clock of the system's says so: what is
      # measured then is not the server. So a run waits for that to pass, and one that it came over is made again.
      #
      # Law: nothing here depends on what was measured.
      class CoreSpeed
        SLOW = 0.8 # of the usual speed
        MOMENT = 4 # ms of computing on a core, for a look
        MOST_CORES = 4 # that are looked at
        KNOWN = 101 # looks that the usual speed is the median of
        FIRST = 9 # of them before anything is measured
        PAUSE = 0.05 # seconds between two looks
        PATIENCE = 15 # seconds that one run waits at most
        LIMIT = 60 # and all of them together

        LOOK = ->(core) { Load::Parts.core_speed(core, MOMENT) }

        def self.slow?(speed)
          !speed.nil? && speed < SLOW
        end

        # give_up: says whether there is no use in waiting any more. look: called with a core, returns its speed just now, in
        # any unit; nil where that can't be had.
        def initialize(cores, give_up: -> { false }, look: LOOK, pause: ->(seconds) { sleep(seconds) })
          @give_up = give_up
          @look = look
          @pause = pause
          @known = cores.server.first(MOST_CORES).to_h { |core| [core, []] }
          @left = LIMIT.to_f
          FIRST.times { now.tap { @pause.call(PAUSE) } }
        end

        # Of the slowest core, by what is usual there: 1.0 as always, 0.5 half as fast; nil where it can't be had.
        def now
          look { |speeds, speed| remember(speeds, speed) }
        end

        # Returns when no core is slow, or after a while all the same. What is seen meanwhile is not what is usual.
        def await
          patience = [PATIENCE, @left].min
          while patience.positive? && CoreSpeed.slow?(look) && !@give_up.call
            @pause.call(PAUSE)
            patience -= PAUSE
            @left -= PAUSE
          end
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
