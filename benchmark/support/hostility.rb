# frozen_string_literal: true

module Bench
  # A trial: the effect of slow clients on honest ones. The arrival of the slow clients is measured separately: it takes
  # a second or two, and their requests are work for any server.
  class Hostility < Beside
    ARRIVAL = 5
    ALONE = 2

    private

    def outer = @plan.duration / 2.0

    # arrival: a phase that begins when they connect. slow_alone: the share of its core that the server uses while only
    # slow clients are connected. slow_growth: the growth of RSS in MB. Also the crowd's own figures.
    def among
      rss = @server.tree.rss
      with_crowd(ARRIVAL + ALONE + @plan.duration) do
        arrival, alone = phase(ARRIVAL, warm: false), cpu_share
        phase(warm: false).merge(arrival: arrival, slow_alone: alone, **@crowd.figures,
                                 slow_growth: (@server.tree.rss - rss) / 1024.0)
      end
    end

    # The share of its core that the server uses while only the slow clients are connected.
    def cpu_share
      before = [@server.tree.cpu_seconds, Cuttle.now]
      sleep ALONE
      cpu, wall = [@server.tree.cpu_seconds, Cuttle.now].zip(before).map { |late, early| late - early }
      cpu / wall
    end

    def figures(among, rate, p99)
      { slow_rate: among[:rate], slow_rate_ratio: among[:rate] / rate, slow_p99: among[:p99],
        slow_p99_ratio: among[:p99] / p99, slow_cpu: among[:cpu], arrival_rate_ratio: among[:arrival][:rate] / rate,
        arrival_p99: among[:arrival][:p99],
        **among.slice(:slow_alone, :slow_growth, :slow_held, :slow_closed, :available) }
    end
  end
end
