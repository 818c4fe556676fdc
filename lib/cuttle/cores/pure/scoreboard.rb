# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The scoreboard of a core whose workers know nothing of each other. A worker accepts only while it has a free
      # thread, and does not publish its number of connections. But each place has a ledger (see Ledgers), which every
      # process of the server can read.
      class Scoreboard
        MOST = 4_096

        # The place that this process has taken; nil: none.
        attr_reader :place

        # A place of this core has one lane, because there are no ractors, and no relay.
        def initialize(room, _lanes = 1, _relays = 0)
          raise ArgumentError, "a scoreboard has 1 to #{MOST} places" unless room.between?(1, MOST)

          @room = room
          @ledgers = Ledgers.new(room)
        end

        # Takes a place for this process. Returns false if there is none of that number.
        def take(number)
          return false unless number < @room

          @ledgers.take(@place = number)
          true
        end

        # Does not clear the ledger, because its counts must never decrease.
        def clear(_number)
          self
        end

        # Counts a request of this process. +phases+: nanoseconds by phase.
        def record(phases)
          @ledgers.add(@place, phases)
        end

        # Where the requests of +place+, or of all places, spent their time: see Cuttle::Ledger.
        def ledger(place = nil)
          @ledgers.read(place ? [place].select { |number| number < @room } : (0...@room).to_a)
        end

        # There is no relay.
        def relay(_whether)
          self
        end

        def watch(_seconds)
          self
        end

        def watched?
          false
        end

        def to_a
          []
        end
      end
    end
  end
end
