# frozen_string_literal: true

require "etc"

module Cuttle
  module Lab
    module Machine
      # Divides the CPU cores between the servers and the load, and measures how busy they are. The load generator runs
      # in this process, so this process is pinned. Servers and other programs are pinned at their start.
      class Cores
        TICK = 1.0 / Etc.sysconf(Etc::SC_CLK_TCK)
        LOAD_SHARE = 4 # the load gets one of this many cores
        MOST_FOR_LOAD = 4

        attr_reader :server, :load

        # Parses "server:0-2 load:3" or "server:0,1" into Arrays of core numbers by :server and :load. Raises
        # UsageError.
        def self.parse(text)
          text.split(/[\s;]+/).to_h do |part|
            name, list = part.split(":", 2)
            unless %w[server load].include?(name) && list&.match?(/\A\d+(-\d+)?(,\d+(-\d+)?)*\z/) &&
                   list.split(",").all? { |range| numbers(range).any? } # 2-0 has none
              raise UsageError, "--cpus: server:0,load:1, or server:0-2,load:3, not #{text.inspect}"
            end

            [name.to_sym, numbers(list).uniq]
          end
        end

        # Parses "0-2,5", the kernel's notation.
        def self.numbers(list)
          list.split(",").flat_map { |range| Range.new(*range.split("-").map(&:to_i).values_at(0, -1)).to_a }
        end

        # Numbers of the cores that this process may use.
        def self.allowed
          numbers(File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1])
        rescue SystemCallError
          (0...Etc.nprocessors).to_a
        end

        # The same, but no more than its control groups let it keep busy at once (`docker run --cpus 2`): beyond that,
        # servers and load would be stopped for a part of each tenth of a second.
        def self.usable(most: Cluster::Cpus.count)
          allowed.first(most)
        end

        # The command line pinned to cores; unchanged if cores is nil or empty.
        def self.pinned(cores, command)
          cores&.any? ? ["taskset", "-c", cores.join(","), *command] : command
        end

        # Cores that are not given are chosen from the allowed ones (nil: the usable ones): the last one for the load,
        # the others for the servers. Raises UsageError.
        def initialize(server: nil, load: nil, allowed: nil)
          usable = allowed || Cores.usable
          @allowed = allowed || Cores.allowed
          strange = [*server, *load] - @allowed
          raise UsageError, "--cpus: core #{strange.first} is not available (#{@allowed.join(",")} are)" if strange.any?

          free = usable - [*server]
          @load = load || (free.empty? ? usable : free).last(share(usable))
          rest = usable - @load
          @server = server || (rest.empty? ? @load : rest)
          freeze
        end

        # Whether servers and load share a core.
        def shared?
          server.intersect?(load)
        end

        # Pins this process and all its threads to the load's cores. Returns false if that fails.
        def pin_self
          pin(load)
        end

        # Runs the block with this process pinned, and yields whether pinning worked. Afterwards the process may use all
        # cores again, because another lab in this process divides the same cores.
        def pinning_self
          yield pin_self
        ensure
          pin(@allowed)
        end

        # Seconds since boot for which +cores+ were busy, and for which the hypervisor gave them to other machines: {
        # busy:, steal: }.
        def times(cores = server | load)
          lines = File.readlines("/proc/stat").grep(/\Acpu(?:#{cores.join("|")}) /)
          fields = lines.map { |line| line.split.drop(1).map { |ticks| ticks.to_i * TICK } }
          { busy: fields.sum { |user, nice, system, _idle, _wait, irq, soft| user + nice + system + irq + soft },
            steal: fields.sum { |each| each[7] || 0.0 } }
        rescue SystemCallError
          { busy: 0.0, steal: 0.0 }
        end

        private

        def pin(cores)
          command = ["taskset", "-a", "-p", "-c", cores.join(","), Process.pid.to_s]
          system(*command, out: File::NULL, err: File::NULL) || false
        end

        def share(allowed)
          (allowed.length / LOAD_SHARE).clamp(1, MOST_FOR_LOAD)
        end
      end
    end
  end
end
