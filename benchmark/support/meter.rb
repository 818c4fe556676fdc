# frozen_string_literal: true

module Bench
  # What a server and the machine did while a load ran.
  class Meter
    def initialize(tree, cores)
      @tree = tree
      @cores = cores
    end

    # The block runs a load and returns its figures; here are added:
    #   cpu         the server's CPU time per request, microseconds
    #   server_cpu, load_cpu  share of its core that the server and the load used
    #   switches    the server's voluntary context switches per request
    #   pss, rss    the server's memory after the load, kilobytes
    #   others, steal  seconds per second that other processes of this machine, or other machines, had the two cores
    def measure
      before = sample
      load = yield
      used = sample.merge(before) { |_name, late, early| late - early }
      figures(load, used).merge(pss: @tree.pss.values.sum / 1024, rss: @tree.rss)
    end

    private

    def sample
      { at: Clock.now, cpu: @tree.cpu_seconds, switches: @tree.voluntary_switches, **@cores.times }
    end

    def figures(load, used)
      wall = used[:at]
      requests = [load[:requests], 1].max
      load.merge(cpu: used[:cpu] * 1e6 / requests, switches: used[:switches] / requests.to_f,
                 server_cpu: used[:cpu] / wall, load_cpu: load[:load_cpu] / wall,
                 others: [(used[:busy] - used[:cpu] - load[:load_cpu]) / wall, 0.0].max, steal: used[:steal] / wall)
    end
  end
end
