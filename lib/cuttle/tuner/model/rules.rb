# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The first Ruby in which each thread has its own quantum.
      OWN_QUANTUM = [3, 3].freeze

      # How an engine runs requests, as far as the model needs it. It follows from the engine's traits. A unit has a GVL
      # of its own: it is a process, or one of a process's ractors.
      #
      #   units     number of units
      #   slots     requests that each unit may have in the app at once
      #   quantum   seconds after which a computing request yields the GVL to another that wants it
      #   clocked   whether the process's clock measures the quantum, from the time at which a thread starts to wait for
      #             the GVL, whichever request computes (up to Ruby 3.2); otherwise each request has its own quantum
      #   early     whether a free slot takes a request while the unit's GVL is busy (a thread that blocks in accept)
      #   in_turn   whether new requests and those that have waited alternate for the GVL (an event loop of fibers)
      #   pool      requests of a unit that may use the database at once
      Rules = Struct.new(:units, :slots, :quantum, :clocked, :early, :in_turn, :pool, keyword_init: true) do
        # held: database connections as in a Profile, or nil. ruby: the version of the server's Ruby.
        def self.of(setting, held = nil, ruby: RUBY_VERSION, slots: setting.slots)
          traits = setting.traits
          new(units: setting.processes, slots: slots, pool: pool(held),
              quantum: traits.fibers? ? Float::INFINITY : QUANTUM,
              clocked: !traits.fibers? && (ruby.split(".").map(&:to_i) <=> OWN_QUANTUM).negative?,
              early: traits.pooled? && !traits.evented?, in_turn: traits.fibers?).freeze
        end

        # If a process's connections don't grow with its threads, or only up to a number that limited the profile's run,
        # it has a pool. No more of its requests can use the database at once than the pool has connections.
        def self.pool(held)
          return Float::INFINITY unless held
          return held["most"] if held["full"]

          own = held["process"].to_i
          own.positive? && !held["thread"].to_f.positive? ? own : Float::INFINITY
        end

        # Requests in the app at once, over all units.
        def places
          units * slots
        end
      end
    end
  end
end
