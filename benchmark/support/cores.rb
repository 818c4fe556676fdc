# frozen_string_literal: true

module Bench
  # Which core the server has and which the load has, and what else went on on them.
  class Cores
    attr_reader :server, :load

    # The first two cores this process may run on, where none are named.
    def initialize(server: nil, load: nil, allowed: Cores.allowed)
      @server = server || (allowed - [load]).first
      @load = load || (allowed - [@server]).first || @server
    end

    # Numbers of the cores that this process may run on.
    def self.allowed
      list = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]
      list.split(",").flat_map { |range| Range.new(*range.split("-").map(&:to_i).values_at(0, -1)).to_a }
    end

    # The harness sleeps while it measures; what it does between is kept from the server's core.
    def pin_self
      system("taskset", "-pc", load.to_s, Process.pid.to_s, out: File::NULL) or raise "taskset is needed (util-linux)"
    end

    # argv pinned to a core.
    def pin(core, argv)
      ["taskset", "-c", core.to_s, *argv]
    end

    def shared?
      server == load
    end

    # Seconds so far that the two cores were busy, and that a hypervisor gave to other machines.
    def busy
      lines = File.readlines("/proc/stat").grep(/\Acpu(?:#{[server, load].uniq.join("|")}) /)
      times = lines.map { |line| line.split.drop(1).map { |ticks| ticks.to_i * ProcessTree::TICK } }
      { busy: times.sum { |user, nice, system, _idle, _wait, irq, soft| user + nice + system + irq + soft },
        steal: times.sum { |fields| fields[7] } }
    end
  end
end
