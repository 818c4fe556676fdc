# frozen_string_literal: true

module Bench
  # Another server, one of PEERS, in one process.
  class Peer < Recipe
    BACKLOG = 1_024

    # The one of that name.
    def self.find(name)
      PEERS.find { |peer| peer.name == name } or raise ArgumentError, "no peer is named #{name}"
    end

    # Where it has no pool, threads count for nothing.
    def initialize(name, app:, threads: 1, label: name, env: {})
      super(label, env: env)
      @peer = Peer.find(name)
      @settings = { app: app, threads: threads, workers: @peer.workers.begin, model: @peer.models.first,
                    keep_alive: @peer.keeps_alive.first, backlog: BACKLOG }
    end

    attr_reader :settings

    def version
      @peer.version
    end

    def unavailable
      @peer.unavailable&.sub("cuttle lab peers --install", "benchmark/setup")
    end

    def command(setup)
      @peer.command(setup)
    end

    def environment(setup)
      @peer.environment(setup)
    end

    def complete?(server)
      @peer.complete?(server)
    end
  end
end
