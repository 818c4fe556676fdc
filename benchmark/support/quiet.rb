# frozen_string_literal: true

module Bench
  # Two benchmarks never run at once on a machine, and a busy machine is said to be one.
  module Quiet
    LOCK = File.join(Dir.tmpdir, "cuttle-benchmark.lock")
    SAMPLES = 10
    INTERVAL = 0.05

    module_function

    # Runs the block while this process alone holds the machine's lock; waits for it if need be.
    def alone
      File.open(LOCK, File::RDWR | File::CREAT, 0o666) do |file|
        unless file.flock(File::LOCK_EX | File::LOCK_NB)
          warn "waiting for another benchmark (pid #{file.read.strip}) to end"
          file.flock(File::LOCK_EX)
        end
        file.truncate(0)
        file.write(Process.pid.to_s)
        file.flush
        yield
      end
    end

    # Waits until nobody else wants a core, at most `patience` seconds. Returns how many did at the end, on average.
    def wait(patience)
      deadline = Clock.now + patience
      loop do
        others = runnable
        return others if others < 0.5 || Clock.now > deadline
      end
    end

    # Processes running or waiting to run beside this one, averaged over half a second.
    def runnable
      counts = Array.new(SAMPLES) do
        sleep INTERVAL
        File.read("/proc/loadavg")[%r{(\d+)/\d+}, 1].to_i - 1
      end
      counts.sum / SAMPLES.to_f
    end
  end
end
