# frozen_string_literal: true

module Cuttle
  module Lab
    class WorkApp
      # Computes for a given time.
      #
      # "thread" measures it on the calling thread's own CPU clock, so what is burned is what was asked for, however
      # long the thread waits for a core or for Ruby's lock meanwhile. "wall" looks at the clock on the wall instead, as
      # the published benchmarks did: time spent waiting then counts as computed, and more requests are served than the
      # cores could compute. It is there to reproduce them.
      module Burner
        CLOCKS = { "thread" => Process::CLOCK_THREAD_CPUTIME_ID, "wall" => Process::CLOCK_MONOTONIC }.freeze

        # Additions between two looks at the clock: about 10 us in the interpreter, beside 0.3 us for the look.
        PORTION = 300

        module_function

        # Returns the seconds that it took, on the same clock: at least +seconds+.
        def burn(seconds, spin = "thread")
          return 0.0 unless seconds.positive?

          clock = CLOCKS.fetch(spin)
          now = start = Process.clock_gettime(clock)
          while now - start < seconds
            count = 0
            count += 1 while count < PORTION
            now = Process.clock_gettime(clock)
          end
          now - start
        end
      end
    end
  end
end
