# frozen_string_literal: true

module Bench
  # A trial: how a server behaves under several times the requests that it can serve. First a closed loop measures its
  # capacity. Then an open loop offers a multiple of it, as independent clients do.
  class Overload < Lab::Runner::Trial
    CAPACITY_SECONDS = 5
    CLIENTS = 20 # connections of the closed loop: enough to keep every thread busy
    CONNECTIONS = 4_000 # most connections of the open loop
    PROBES = 100 # requests per second, among the offered ones, whose times are kept by status
    TIMEOUT = 10
    MOST = CONNECTIONS + 2 * PROBES * TIMEOUT # connections in all
    INTERVAL = 0.5 # seconds between two reads of the memory

    # factor: the offered rate / the capacity. timeout: seconds after which a client gives up.
    def initialize(factor, timeout = TIMEOUT, **parts)
      super(**parts)
      @factor = factor
      @timeout = timeout
    end

    # The lab's record of the capacity, with the figures of the overload:
    #   offered, goodput             requests, and right responses, per second; goodput_share: of the capacity
    #   accepted_p50, accepted_p99   times of the right responses in milliseconds; nil if there were none
    #   shed_p99                     the same of the 503s
    #   shed                         share of 503s in all responses
    #   growth                       MB of RSS from a third of the run to its end
    def run(configuration, route, **)
      prepare(configuration, route)
      warm_up
      capacity, meter = measure(duration: CAPACITY_SECONDS)
      return if capacity.interrupted?

      run = record(capacity, meter, nil)
      memory, (load, probes) = watch { offer(capacity.rate * @factor) }
      errors = Results.sum([capacity.errors, load.errors.except(:status_5xx)]) # 503s are expected
      figures = figures(capacity.rate, load, probes, memory)
      run.merge("figures" => figures, "errors" => errors) unless load.interrupted?
    end

    private

    # Returns [the load's result, the probes' times by status].
    def offer(rate)
      probes = Thread.new { Probes.new(@server.port, rate: PROBES, timeout: @timeout).run(@plan.duration) }
      options = { connections: CONNECTIONS, rate: (rate - PROBES).round, timeout: @timeout, duration: @plan.duration }
      [@generator.call(@url, **@options, **options), probes.value]
    end

    # Returns [kilobytes of RSS every INTERVAL, the block's value].
    def watch
      memory, over = [], false
      thread = Thread.new { memory << @server.tree.rss and sleep(INTERVAL) until over }
      result = yield
      over = true
      thread.join
      [memory, result]
    end

    def figures(capacity, load, probes, memory)
      goodput = (good(load) + probes[200].size) / load.elapsed
      { offered: load.arrivals / load.elapsed + PROBES, goodput: goodput, goodput_share: goodput / capacity,
        accepted_p50: percentile(probes[200], 0.5), accepted_p99: percentile(probes[200], 0.99),
        shed_p99: percentile(probes[503], 0.99), shed: load.errors[:status_5xx].fdiv([load.responses, 1].max),
        growth: (memory.last - memory[memory.size / 3]) / 1024.0 }
    end

    # The number of right responses while requests were sent.
    def good(load)
      load.windows.reject(&:draining?).sum do |window|
        window.responses - window.errors.sum { |kind, count| kind.start_with?("status") ? count : 0 }
      end
    end

    # Milliseconds, or nil.
    def percentile(seconds, share)
      Cuttle::Load::Statistics.quantile(seconds, share) * 1e3 if seconds.any?
    end
  end
end
