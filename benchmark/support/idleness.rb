# frozen_string_literal: true

module Bench
  # A trial: what idle connections cost a server in memory, and the active ones in speed. One fresh server is loaded
  # without them, with them, and without them again; what changes with time falls on both sides.
  class Idleness
    WARM_UP = 1
    SETTLE_TIMEOUT = 10
    SETTLE_INTERVAL = 0.5
    # Kilobytes between two looks that count as no change.
    STEADY = 64

    # load: a Wrk, of the active connections; count: idle ones. The app collects garbage on GET /settle.
    def initialize(load, count)
      @load = load
      @count = count
    end

    # Returns Meter's figures without idle connections, and: idle (connections still held at the end), idle_bytes
    # (memory each cost), idle_rate, idle_p99 and their ratios to those without.
    def call(recipe, seconds, cores)
      IdleClients.allow(@count)
      Server.open(recipe, cores, LOGS) do |server|
        loaded = -> { run(server, seconds, cores) }
        first = loaded.call
        crowd = with_crowd(server, loaded)
        figures(first, crowd, loaded.call)
      end
    end

    private

    def run(server, seconds, cores)
      @load.call(server.port, WARM_UP, cores)
      Meter.new(server.tree, cores).measure { @load.call(server.port, seconds, cores) }
    end

    # The figures among the idle ones, who are gone again when it returns.
    def with_crowd(server, loaded)
      descriptors = server.tree.descriptors
      clients = IdleClients.new(server.port)
      empty = settled_memory(server)
      clients.open(@count)
      bytes = (settled_memory(server) - empty) * 1024.0 / @count
      loaded.call.merge(idle_bytes: bytes, idle: clients.alive)
    ensure
      clients&.close
      await { server.tree.descriptors <= descriptors + @load.connections }
    end

    # Kilobytes, after garbage collection, when they have stopped changing.
    def settled_memory(server)
      2.times { server.get("/settle") }
      before = server.tree.anonymous
      await do
        sleep SETTLE_INTERVAL
        now = server.tree.anonymous
        steady = (now - before).abs <= STEADY
        before = now
        steady
      end
      before
    end

    def await
      deadline = Clock.now + SETTLE_TIMEOUT
      nil until yield || Clock.now > deadline
    end

    def figures(first, crowd, last)
      rate = (first[:rate] + last[:rate]) / 2
      p99 = (first[:p99] + last[:p99]) / 2.0
      errors = [first, crowd, last].map { |run| run[:errors] }.reduce { |sum, more| sum.merge(more) { |_kind, a, b| a + b } }
      first.merge(rate: rate, p99: p99, errors: errors, **crowd.slice(:idle, :idle_bytes),
                  idle_rate: crowd[:rate], idle_rate_ratio: crowd[:rate] / rate,
                  idle_p99: crowd[:p99], idle_p99_ratio: crowd[:p99] / [p99, 1].max)
    end
  end
end
