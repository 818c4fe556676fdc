# frozen_string_literal: true

module Bench
  # A trial: one fresh server under one load, after a warm-up. Everything is read from outside the server.
  class Throughput
    WARM_UP = 1

    # load: a Wrk.
    def initialize(load)
      @load = load
    end

    # Returns the figures of `seconds` of load: wrk's (see Wrk.parse), and what Meter adds.
    def call(recipe, seconds, cores)
      Server.open(recipe, cores, LOGS) do |server|
        @load.call(server.port, WARM_UP, cores)
        Meter.new(server.tree, cores).measure { @load.call(server.port, seconds, cores) }
      end
    end
  end
end
