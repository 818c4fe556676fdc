# frozen_string_literal: true

module Bench
  # One core for the server, and one for the load.
  class Cores < ::Cuttle::Lab::Machine::Cores
    # The first two cores this process may run on, where none are named.
    def initialize(server: nil, load: nil, allowed: Cores.allowed)
      server ||= (allowed - [load]).first
      load ||= (allowed - [server]).first || server
      super(server: [server], load: [load], allowed: allowed)
    end

    # argv pinned to cores.
    def pin(cores, argv)
      ["taskset", "-c", cores.join(","), *argv]
    end
  end
end
