# frozen_string_literal: true

module Cuttle
  module Lab
    module Machine
      # Measures a server and the machine during a load: CPU times by the processes' own clocks, and memory after the
      # load.
      class Meter
        # server: the server's part of the results line. others, steal: seconds per second and core that other processes
        # (not the server's, the load's or the app's services) and other machines used. lost: both together, on the
        # server's cores only. If the load shares these cores, lost counts only other machines, because an app's
        # services run there too. speed: relative speed of the servers' cores after the load (see CoreSpeed). network:
        # how busy a slow network's relay was, 0 to 1, alone or together with the load if they share cores; 0 without a
        # relay.
        Figures = Struct.new(:server, :others, :steal, :lost, :speed, :network, keyword_init: true) do
          # The share of the servers' computing power that others took.
          def withheld
            [lost, 1 - (speed || 1)].max
          end

          def disturbed?
            lost > MOST_LOST || CoreSpeed.slow?(speed)
          end
        end

        MOST_LOST = 0.1

        # tree: the server's ProcessTree. speed: CoreSpeed. route: the Network::Routes::Route that the load takes.
        # services: returns the CPU seconds that the app's services have used so far.
        def initialize(tree, cores, speed, route, services: -> { 0.0 })
          @services = services
          @tree = tree
          @cores = cores
          @speed = speed
          @route = route
        end

        # The block runs a load and returns its Load::Result. Returns that result and the Figures.
        def measure
          @speed.await
          before, processes = sample, @tree.cpu_by_process
          result = yield
          used = sample.merge(before) { |_name, late, early| late - early }
          [result, figures(result, used, since(processes))]
        end

        private

        def sample
          { wall: clock(Process::CLOCK_MONOTONIC), own: clock(Process::CLOCK_PROCESS_CPUTIME_ID) + Machine.children_cpu,
            network: @route.cpu_seconds, services: @services.call, cpu: @tree.cpu_seconds,
            switches: @tree.voluntary_switches, **@cores.times,
            **@cores.times(@cores.server).transform_keys { |name| :"server_#{name}" } }
        end

        def clock(id)
          Process.clock_gettime(id)
        end

        # The CPU seconds since the load began, for each process that existed then.
        def since(before)
          @tree.cpu_by_process.slice(*before.keys).map { |pid, seconds| (seconds - before[pid]).round(6) }
        end

        def figures(result, used, processes)
          wall = used[:wall] * (@cores.server | @cores.load).length
          server = { **server(result, used), "cpu_by_process" => processes }
          others = used[:busy] - used.values_at(:cpu, :own, :network, :services).sum
          Figures.new(server: server, steal: used[:steal] / wall, others: [others / wall, 0.0].max, lost: lost(used),
                      speed: @speed.now, network: network(used))
        end

        # The cost per response of the app's services, if it has any.
        def services(used, responses)
          used[:services].positive? ? { "services_us" => used[:services] * 1e6 / responses } : {}
        end

        def network(used)
          return 0.0 if used[:network].zero?

          [used[:network], (used[:network] + used[:own]) / @cores.load.length].max / used[:wall]
        end

        def lost(used)
          others = @cores.shared? ? 0.0 : [used[:server_busy] - used[:cpu], 0.0].max
          (others + used[:server_steal]) / (used[:wall] * @cores.server.length)
        end

        def server(result, used)
          responses = [result.responses, 1].max
          sizes = @tree.pss.values
          { "cpu_us" => used[:cpu] * 1e6 / responses, "switches" => used[:switches].fdiv(responses), "pss" => sizes,
            "pss_total" => sizes.sum, "rss_total" => @tree.rss * 1024,
            "cpu_share" => used[:cpu] / (used[:wall] * @cores.server.length), **services(used, responses) }
        end
      end
    end
  end
end
