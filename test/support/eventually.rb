# frozen_string_literal: true

# Waiting in tests: until something is so, never for a fixed time.
module Eventually
  module_function

  # The block's first true value. Raises after +within+ seconds, naming +what+.
  def eventually(what = "the condition", within: 10)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    until (result = yield)
      raise "#{what}: not within #{within} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.005
    end
    result
  end
end
