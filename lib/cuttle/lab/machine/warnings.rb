# frozen_string_literal: true

module Cuttle
  module Lab
    module Machine
      # Warnings about the machine, before a lab or during a run. A warning says what is wrong and what to do. It never
      # stops a lab.
      module Warnings
        Warning = Struct.new(:name, :text, :advice) do
          # The Hash in the results file.
          def to_h
            { "name" => name, "text" => text, "advice" => advice }
          end
        end

        OTHERS = 0.05 # share of the cores' time; others that take more are a warning
        STEAL = 0.01 # the same for the hypervisor
        SATURATED = 0.8 # share of a core, for the load generator's busiest thread or a slow network's relay
        RUNNABLE = 0.5 # number of other processes that want a core before the lab begins
        CALL = 0.7e-6 # seconds of a system call; processors and most virtual machines take 0.1 to 0.4 us
        SAMPLES = 10
        INTERVAL = 0.05 # seconds

        module_function

        # Warnings before the first run. +pinned+: whether this process could be pinned.
        def before(cores, pinned:)
          [one_core(cores), unpinned(pinned), slow_calls(Machine.system_call), Listeners.warning,
           crowded(runnable)].compact
        end

        # Warnings about a run. others, steal: seconds per second and core. speed: relative speed of the servers' cores.
        # load_cpu: CPU share of the generator's busiest thread or of a slow network's relay, 0 to 1.
        def during(others:, steal:, load_cpu:, speed: nil)
          [(busy(others) if others > OTHERS), (stolen(steal) if steal > STEAL), (slow(speed) if CoreSpeed.slow?(speed)),
           (saturated(load_cpu) if load_cpu > SATURATED)].compact
        end

        def one_core(cores)
          return unless cores.shared?

          Warning.new("one_core", "server and load share core #{(cores.server & cores.load).join(", ")}: each takes " \
                                  "time from the other", "use a machine with two cores, or see --cpus")
        end

        def unpinned(pinned)
          return if pinned

          Warning.new("unpinned", "processes can't be pinned to cores here", "install taskset (util-linux)")
        end

        # +seconds+: Machine.system_call.
        def slow_calls(seconds)
          return if seconds < CALL

          Warning.new("slow_calls", format("a system call takes %.1f us here: requests cost more CPU time than on " \
                                           "most machines", seconds * 1e6),
                      "compare these figures only with others from such machines")
        end

        def crowded(count)
          return if count.nil? || count < RUNNABLE

          Warning.new("busy", format("the machine is busy: %.1f other processes want a core", count),
                      "end the other programs, and measure again")
        end

        # +facts+: names of the Machine.facts that have changed since the lab began.
        def resumed(facts)
          Warning.new("resumed", "the lab was resumed under other conditions (#{facts.join(", ")})",
                      "begin a new lab, and compare the two")
        end

        def busy(share)
          Warning.new("busy", "other processes took #{percent(share)} of the cores",
                      "end the other programs, and measure again")
        end

        def stolen(share)
          Warning.new("steal", "the hypervisor gave #{percent(share)} of the cores' time to other machines",
                      "use another machine, or more rounds")
        end

        def slow(speed)
          Warning.new("slow", "a core of the servers' ran at #{percent(speed)} of its usual speed",
                      "use another machine, or more rounds")
        end

        def saturated(share)
          Warning.new("saturated", "the load generator, or a slow network's relay, was busy for #{percent(share)} of " \
                                   "the time: it may be what limits the rate",
                      "give it more cores (--cpus), or use a heavier app")
        end

        def percent(share)
          "#{(share * 100).round(share < 0.1 ? 1 : 0)}%"
        end

        # Number of other processes that run or want to run, averaged over half a second; nil if the kernel does not
        # report it.
        def runnable
          counts = Array.new(SAMPLES) do
            sleep INTERVAL
            File.read("/proc/loadavg")[%r{(\d+)/\d+}, 1].to_i - 1
          end
          counts.sum.fdiv(SAMPLES)
        rescue SystemCallError
          nil
        end

        # Returns when no other process wants a core, or after +patience+ seconds.
        def await_quiet(patience)
          deadline = Cuttle.now + patience
          nil while Cuttle.now < deadline && runnable.to_f >= RUNNABLE
        end

        # Finds Ruby servers that already listen. Servers left by a killed lab take time and memory from the next lab.
        # They may also answer on the port of a server under test.
        module Listeners
          SHOWN = 3

          module_function

          def warning(own: Process.pid)
            found = ruby_servers(own: own)
            return if found.empty?

            named = found.first(SHOWN).map { |pid, words| "#{pid} (#{words})" }
            Warning.new("listeners", "#{found.length} Ruby server#{"s" unless found.length == 1} already listening: " \
                                     "#{[*named, ("…" if found.length > SHOWN)].compact.join(", ")}",
                        "stop those that an earlier lab left behind; the others may disturb the lab")
          end

          # Pid => shortened command line. Leaves out this process and its children, which are services of this lab.
          def ruby_servers(own: Process.pid)
            sockets = Servers::ProcessTree.listening
            commands = Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).to_h { |pid| [pid, ruby(pid)] }
            others = commands.compact.reject { |pid, _| [pid, parent(pid)].include?(own) }
            others.select { |pid, _| Servers::ProcessTree.open?(pid, sockets) }
          rescue SystemCallError
            {}
          end

          # The command line of a Ruby process, or nil for another program. Arguments and paths may have any octets.
          def ruby(pid)
            words = File.read("/proc/#{pid}/cmdline").scrub.split("\0")
            return unless File.basename(File.readlink("/proc/#{pid}/exe")).scrub.match?(/\A(ruby|truffleruby|java)/)

            words.join(" ").split.join(" ")[0, 60]
          rescue SystemCallError
            nil
          end

          def parent(pid)
            File.read("/proc/#{pid}/stat").rpartition(")").last.split[1].to_i
          rescue SystemCallError
            nil
          end
        end
      end
    end
  end
end
