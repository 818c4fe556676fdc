# frozen_string_literal: true

module Bench
  # A trial: what slow clients do to honest ones. One fresh server is loaded without them, while they arrive, with
  # them, and without them again, once they have gone; what changes with time falls on both sides. Their arrival is
  # measured apart: it lasts a second or two, and what they ask for then is work for any server.
  class Hostility
    WARM_UP = 1
    ARRIVAL = 5
    ALONE = 2
    SETTLE_TIMEOUT = 30

    # load: of the honest clients; crowd: SlowClients or SlowHttpTest.
    def initialize(load, crowd)
      @load = load
      @crowd = crowd
    end

    # Returns Meter's figures without slow clients, and: slow_rate, slow_p99 and their ratios to those without, slow_cpu
    # (of the server, per request), slow_growth (kilobytes of its RSS more than before); arrival_rate_ratio and
    # arrival_p99, of the ARRIVAL seconds from when they are connected; slow_alone, the share of its core that the server
    # takes while only slow ones are there; and the crowd's own.
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
      @crowd.open(server.port, cores, seconds: ARRIVAL + ALONE + seconds)
      server.tree.leave_out(@crowd.pid)
      arrival = @load.call(server.port, ARRIVAL, cores)
      alone = cpu_share(server)
      measure(server, seconds, cores).merge(arrival_rate: arrival[:rate], arrival_p99: arrival[:p99], slow_alone: alone,
                                            **@crowd.figures)
    ensure
      @crowd.close
      await { server.tree.descriptors <= descriptors + @load.connections }
    end

    # Of its core, while nobody but the slow ones asks anything of it.
    def cpu_share(server)
      before = [server.tree.cpu_seconds, Clock.now]
      sleep ALONE
      cpu, wall = [server.tree.cpu_seconds, Clock.now].zip(before).map { |late, early| late - early }
      cpu / wall
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
                  **crowd.slice(:arrival_p99, :slow_alone, :slow_held, :slow_closed, :available))
    end

    # What it is beside what it was; where nothing was served before, there is nothing to tell.
    def share(now, before)
      now / before.to_f if before.positive?
    end
  end
end
