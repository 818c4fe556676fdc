# frozen_string_literal: true

module Bench
  # A trial: what a server does with several times the requests that it can serve. Its capacity is measured first, by a
  # closed loop; then an open loop offers so many times as much, as clients do who know nothing of each other.
  class Overload
    CAPACITY_SECONDS = 5
    CLIENTS = 20 # of the closed loop: enough to keep every thread busy
    CONNECTIONS = 4_000 # of the open loop, at most
    PROBES = 100 # requests per second of the offered ones whose times are told by status
    TIMEOUT = 10
    INTERVAL = 0.5 # seconds between two looks at the memory

    # factor: how many times the capacity is offered; timeout: seconds after which a client gives up.
    def initialize(factor, timeout: TIMEOUT)
      @factor = factor
      @timeout = timeout
    end

    # rate: the capacity, requests per second; p99: at capacity; and of the overload:
    #   offered, goodput             requests, and right responses, per second; goodput_share: of the capacity
    #   accepted_p50, accepted_p99   times of the right responses, microseconds; nil where there was none
    #   shed_p99                     of the 503s
    #   shed                         share of all responses
    #   growth                       kilobytes of RSS from a third of the run to its end
    def call(recipe, seconds, cores)
      IdleClients.allow(CONNECTIONS + 2 * PROBES * @timeout)
      Server.open(recipe, cores, LOGS) do |server|
        capacity = CuttleLoad.new(connections: CLIENTS, warmup: 1).call(server.port, CAPACITY_SECONDS, cores)
        memory, (load, probes) = watch(server) { offer(server, capacity[:rate] * @factor, seconds, cores) }
        figures(capacity, load, probes, memory)
      end
    end

    private

    # Returns [the load's figures, the probes' times by status].
    def offer(server, rate, seconds, cores)
      probes = Thread.new { Probes.new(server.port, rate: PROBES, timeout: @timeout).run(seconds) }
      load = CuttleLoad.new(connections: CONNECTIONS, rate: (rate - PROBES).round, timeout: @timeout)
      [load.call(server.port, seconds, cores), probes.value]
    end

    # Returns [kilobytes of RSS every INTERVAL, what the block returned].
    def watch(server)
      memory, over = [], false
      thread = Thread.new { memory << server.tree.rss and sleep(INTERVAL) until over }
      result = yield
      over = true
      thread.join
      [memory, result]
    end

    def figures(capacity, load, probes, memory)
      goodput = load[:good_rate] + probes[200].size / load[:seconds]
      shed, errors = load[:errors].partition { |kind, _| kind == :status_5xx }.map(&:to_h)
      capacity.merge(offered: load[:sent] / load[:seconds] + PROBES,
                     goodput: goodput, goodput_share: goodput / capacity[:rate],
                     accepted_p50: percentile(probes[200], 0.5), accepted_p99: percentile(probes[200], 0.99),
                     shed_p99: percentile(probes[503], 0.99), shed: shed.values.sum.fdiv([load[:requests], 1].max),
                     growth: memory.last - memory[memory.size / 3], load_cpu: load[:load_cpu] / load[:seconds],
                     errors: capacity[:errors].merge(errors))
    end

    # Microseconds, or nil.
    def percentile(seconds, share)
      ::Cuttle::Load::Statistics.quantile(seconds, share) * 1e6 if seconds.any?
    end
  end
end
