# frozen_string_literal: true

module Bench
  # A trial: one fresh server under one load that warms it up itself. What it tells is the load's figures, and what
  # others had of the two cores meanwhile.
  class Loaded
    # load: a CuttleLoad with a warm-up.
    def initialize(load)
      @load = load
    end

    # The server's CPU time counts for its share of the core, not for a request: the warm-up's are not among those.
    def call(recipe, seconds, cores)
      Server.open(recipe, cores, LOGS) do |server|
        figures = Meter.new(server.tree, cores).measure { @load.call(server.port, seconds, cores) }
        figures.reject { |name, _| %i[cpu switches].include?(name) }
      end
    end
  end
end
