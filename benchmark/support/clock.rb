# frozen_string_literal: true

module Bench
  # Time that only goes forward.
  module Clock
    # Seconds.
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
