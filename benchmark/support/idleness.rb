# frozen_string_literal: true

module Bench
  # A trial: what idle connections cost a server in memory, and the active ones in speed. Each client of the crowd sends
  # one request and then keeps its connection silently. The app collects garbage on GET /settle.
  #
  # A first crowd comes and leaves before the phases that are compared, so that each of them has the memory that such a
  # burst of requests leaves. What the burst has changed is a figure of its own.
  class Idleness < Beside
    SETTLE_TIMEOUT = 10
    SETTLE_INTERVAL = 0.5
    STEADY = 64 # kilobytes; smaller changes between two reads count as none

    private

    # A phase before any crowd, and the first crowd, whose memory is measured: later ones get the memory that it leaves.
    def earlier
      @fresh = phase
      empty = settled_memory
      @bytes = with_crowd { settled_memory - empty } * 1024.0 / @crowd.count
      [@fresh]
    end

    # idle: connections still open at the end.
    def among
      with_crowd { phase.merge(idle: @crowd.count - @crowd.figures[:slow_closed]) }
    end

    # idle_bytes: memory per connection. fresh_p99: before any crowd. burst_p99_ratio: what it has become without a
    # crowd, once one was there.
    def figures(among, rate, p99)
      fresh, after = [@fresh[:p99], p99].map { |time| [time, 0.001].max }
      { idle: among[:idle], idle_bytes: @bytes, idle_rate: among[:rate], idle_rate_ratio: among[:rate] / rate,
        idle_p99: among[:p99], idle_p99_ratio: among[:p99] / after, fresh_p99: fresh, burst_p99_ratio: after / fresh }
    end

    # Kilobytes after garbage collection, when they no longer change.
    def settled_memory
      2.times { @server.get("/settle") }
      deadline = Cuttle.now + SETTLE_TIMEOUT
      before = @server.tree.anonymous
      loop do
        sleep SETTLE_INTERVAL
        memory = @server.tree.anonymous
        return memory if (memory - before).abs <= STEADY || Cuttle.now > deadline

        before = memory
      end
    end
  end
end
