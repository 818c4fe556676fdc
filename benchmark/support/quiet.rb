# frozen_string_literal: true

module Bench
  # Two benchmarks, or a lab, never run at once on a machine, and a busy machine is said to be one.
  module Quiet
    module_function

    # Runs the block while this process alone holds the machine's lock; waits for it if need be.
    def alone(&block)
      waiting = ->(pid) { warn "waiting for another benchmark (pid #{pid}) to end" }
      ::Cuttle::Lab::Runner::Lock.hold(waiting: waiting, &block)
    end

    # Waits until nobody else wants a core, at most `patience` seconds. Returns how many did at the end, on average.
    def wait(patience)
      deadline = Clock.now + patience
      loop do
        others = ::Cuttle::Lab::Machine::Warnings.runnable.to_f
        return others if others < ::Cuttle::Lab::Machine::Warnings::RUNNABLE || Clock.now > deadline
      end
    end
  end
end
