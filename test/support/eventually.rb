# frozen_string_literal: true

# Time in tests: waiting until a condition is true, never for a fixed time; and measuring durations.
module Eventually
  # A limit in seconds for everything. Only an operation that hangs takes as long: a loaded machine may be slow, and no
  # test fails because of that.
  PATIENCE = 60

  # Bounds in seconds of the time between two checks.
  PAUSE = (0.005..0.05)

  module_function

  # The block's first true value. Raises after +within+ seconds, with +what+: a String, or a Proc that returns one.
  # +every+: seconds between two checks; by default a tenth of the time that has passed, because each check costs
  # processor time.
  def eventually(what = "the condition", within: PATIENCE, every: nil)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    until (result = yield)
      passed = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      raise "#{what.respond_to?(:call) ? what.call : what}: not within #{within} s" if passed > within

      sleep(every || (passed / 10).clamp(PAUSE))
    end
    result
  end

  # The duration of the block in seconds.
  def elapsed(clock = Process::CLOCK_MONOTONIC)
    start = Process.clock_gettime(clock)
    yield
    Process.clock_gettime(clock) - start
  end

  # The value (in seconds) of the block's first trial below +below+, or else the least of all trials: a loaded machine
  # is slow at times, but code that waits where it should not is slow each time.
  def least_seconds(below:, trials: 8)
    Array.new(trials) { yield.tap { |seconds| return seconds if seconds < below } }.min
  end
end
