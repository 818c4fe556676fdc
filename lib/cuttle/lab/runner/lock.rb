# frozen_string_literal: true

require "tmpdir"

module Cuttle
  module Lab
    class Runner
      # Allows only one lab or benchmark at a time on a machine, because they would disturb each other. The scripts in
      # benchmark/ use it too.
      module Lock
        NAME = "cuttle-benchmark.lock"

        @waited = 0.0

        module_function

        # Seconds that this process has waited for other labs so far.
        def waited = @waited

        # Runs the block while this process holds the machine's lock. If another process holds it, prints that on +out+
        # and waits.
        def hold(path = File.join(Dir.tmpdir, NAME), out: $stderr)
          File.open(path, File::RDWR | File::CREAT, 0o666) do |file|
            wait(file, out) unless file.flock(File::LOCK_EX | File::LOCK_NB)
            file.truncate(0)
            file.write(Process.pid.to_s)
            file.flush
            yield
          end
        rescue Errno::EACCES => error
          raise Failure, "#{path}: #{Load.reason(error)}: it belongs to another user"
        end

        def wait(file, out)
          out.puts "waiting for another lab or benchmark (pid #{file.read.strip}) to end"
          began = Cuttle.now
          file.flock(File::LOCK_EX)
          @waited += Cuttle.now - began
          file.rewind
        end
        private_class_method :wait
      end
    end
  end
end
