# frozen_string_literal: true

# Time in tests: waiting until something is so, never for a fixed time; and how long something took.
module Eventually
  # Seconds that anything may take. Only what hangs takes as long: a loaded machine takes its time, and no test fails
  # for that.
  PATIENCE = 60

  module_function

  # The block's first true value. Raises after +within+ seconds, naming +what+: a String, or what is called for one.
  # +every+: seconds from one look to the next; more for looks that cost.
  def eventually(what = "the condition", within: PATIENCE, every: 0.005)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    until (result = yield)
      if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        raise "#{what.respond_to?(:call) ? what.call : what}: not within #{within} s"
      end

      sleep every
    end
    result
  end

  # Seconds that the block took.
  def elapsed(clock = Process::CLOCK_MONOTONIC)
    start = Process.clock_gettime(clock)
    yield
    Process.clock_gettime(clock) - start
  end

  # The seconds that the block returns, of the first trial that takes less than +below+, or the least of all: a loaded
  # machine is slow at times, what waits where it should not is slow each time.
  def least_seconds(below:, trials: 8)
    Array.new(trials) { yield.tap { |seconds| return seconds if seconds < below } }.min
  end
end
