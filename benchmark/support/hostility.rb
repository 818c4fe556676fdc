# frozen_string_literal: true

module Bench
  # A trial: what slow clients do to honest ones. One fresh server is loaded without them, while they arrive, with
  # them, and without them again, once they have gone; what changes with time falls on both sides. They arrive within a
  # second or two, and what they ask for is work: so much for itself.
  class Hostility
    WARM_UP = 1
    ARRIVAL = 5
    SETTLE_TIMEOUT = 30

    # load: of the honest clients; crowd: SlowClients or SlowHttpTest.
    def initialize(load, crowd)
      @load = load
      @crowd = crowd
    end

    # Returns Meter's figures without slow clients, and: slow_rate, slow_p99 and their ratios to those without, slow_cpu
    # (of the server, per request), slow_growth (kilobytes of its RSS more than before); arrival_rate_ratio and
    # arrival_p99, of the ARRIVAL seconds from when they are connected; and the crowd's own.
    def call(recipe, seconds, cores)
      raise Server::Failed, @crowd.unavailable if @crowd.unavailable

      Server.open(recipe, cores, LOGS) do |server|
        first = run(server, seconds / 2.0, cores)
        crowd = with_crowd(server, seconds, cores)
        figures(first, crowd, run(server, seconds / 2.0, cores))
      end
    end

    private

    def run(server, seconds, cores)
      @load.call(server.port, WARM_UP, cores)
      measure(server, seconds, cores)
    end

    def measure(server, seconds, cores)
      Meter.new(server.tree, cores).measure { @load.call(server.port, seconds, cores) }
    end

    # The figures among the slow ones, who are gone again when it returns.
    def with_crowd(server, seconds, cores)
      descriptors = server.tree.descriptors
      @crowd.open(server.port, cores, seconds: ARRIVAL + seconds)
      arrival = @load.call(server.port, ARRIVAL, cores)
      measure(server, seconds, cores).merge(arrival_rate: arrival[:rate], arrival_p99: arrival[:p99], **@crowd.figures)
    ensure
      @crowd.close
      await { server.tree.descriptors <= descriptors + @load.connections }
    end

    def await
      deadline = Clock.now + SETTLE_TIMEOUT
      sleep 0.1 until yield || Clock.now > deadline
    end

    def figures(first, crowd, last)
      rate = (first[:rate] + last[:rate]) / 2
      p99 = (first[:p99] + last[:p99]) / 2.0
      runs = [first, crowd, last]
      errors = runs.map { |run| run[:errors] }.reduce { |sum, more| sum.merge(more) { |_kind, a, b| a + b } }
      first.merge(rate: rate, p99: p99, errors: errors, slow_rate: crowd[:rate], slow_p99: crowd[:p99],
                  slow_rate_ratio: share(crowd[:rate], rate), slow_p99_ratio: share(crowd[:p99], p99),
                  slow_cpu: crowd[:cpu], slow_growth: crowd[:rss] - first[:rss], slow_load_cpu: crowd[:load_cpu],
                  arrival_rate_ratio: share(crowd[:arrival_rate], rate),
                  **crowd.slice(:arrival_p99, :slow_held, :slow_closed, :available))
    end

    # What it is beside what it was; where nothing was served before, there is nothing to tell.
    def share(now, before)
      now / before.to_f if before.positive?
    end
  end
end
