# frozen_string_literal: true

require "tmpdir"

module Cuttle
  module Lab
    class Runner
      # One lab or benchmark at a time on a machine: each would be the other's noise. The scripts in benchmark/ hold it
      # too.
      module Lock
        NAME = "cuttle-benchmark.lock"

        module_function

        # Runs the block while this process holds the machine's lock. Waits for it, and calls +waiting+ with the pid of
        # whom it waits for.
        def hold(path = File.join(Dir.tmpdir, NAME), waiting: ->(_pid) {})
          File.open(path, File::RDWR | File::CREAT, 0o666) do |file|
            wait(file, waiting) unless file.flock(File::LOCK_EX | File::LOCK_NB)
            file.truncate(0)
            file.write(Process.pid.to_s)
            file.flush
            yield
          end
        rescue Errno::EACCES => error
          raise Failure, "#{path}: #{Load.reason(error)}: another user's lab has made it"
        end

        def wait(file, waiting)
          waiting.call(file.read.strip)
          file.flock(File::LOCK_EX)
          file.rewind
        end
        private_class_method :wait
      end
    end
  end
end
