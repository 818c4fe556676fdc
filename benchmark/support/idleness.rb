# frozen_string_literal: true

module Bench
  # A trial: what idle connections cost a server in memory, and the active ones in speed. Each client of the crowd sends
  # one request and then keeps its connection silently. The app collects garbage on GET /settle.
  class Idleness < Beside
    SETTLE_TIMEOUT = 10
    SETTLE_INTERVAL = 0.5
    STEADY = 64 # kilobytes; smaller changes between two reads count as none

    private

    # idle: connections still open at the end. idle_bytes: memory per connection.
    def among
      empty = settled_memory
      with_crowd do
        bytes = (settled_memory - empty) * 1024.0 / @crowd.count
        phase.merge(idle_bytes: bytes, idle: @crowd.count - @crowd.figures[:slow_closed])
      end
    end

    def figures(among, rate, p99)
      among.slice(:idle, :idle_bytes).merge(
        idle_rate: among[:rate], idle_rate_ratio: among[:rate] / rate,
        idle_p99: among[:p99], idle_p99_ratio: among[:p99] / [p99, 0.001].max
      )
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
