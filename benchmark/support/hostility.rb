# frozen_string_literal: true

module Bench
  # A trial: what slow clients do to honest ones. Their arrival is measured apart: it lasts a second or two, and what
  # they ask for then is work for any server.
  class Hostility < Beside
    ARRIVAL = 5
    ALONE = 2

    private

    def outer = @plan.duration / 2.0

    # arrival: a phase from when they are connected; slow_alone: the share of its core that the server takes while only
    # slow ones are there; slow_growth: MB of RSS more than before; and the crowd's own.
    def among
      rss = @server.tree.rss
      with_crowd(ARRIVAL + ALONE + @plan.duration) do
        arrival, alone = phase(ARRIVAL, warm: false), cpu_share
        phase(warm: false).merge(arrival: arrival, slow_alone: alone, **@crowd.figures,
                                 slow_growth: (@server.tree.rss - rss) / 1024.0)
      end
    end

    # Of its core, while nobody but the slow ones asks anything of it.
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
