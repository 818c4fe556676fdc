# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The scoreboard of a core whose workers know nothing of each other. A worker accepts only while it has a free
      # thread, and does not publish how many connections it has. But each place has a ledger (Books), which every
      # process of the server can read.
      class Scoreboard
        MOST = 4_096

        # The place that this process has taken; nil: none.
        attr_reader :place

        # A place of this core has one lane: there are no ractors.
        def initialize(room, _lanes = 1)
          raise ArgumentError, "a scoreboard has 1 to #{MOST} places" unless room.between?(1, MOST)

          @room = room
          @books = Books.new(room)
        end

        # Takes a place for this process. Returns false if there is none of that number.
        def take(number)
          return false unless number < @room

          @books.take(@place = number)
          true
        end

        # The ledger goes on: what it counts never goes backwards.
        def clear(_number)
          self
        end

        # Counts a request of this process; +phases+ are nanoseconds by phase.
        def book(phases)
          @books.add(@place, phases)
        end

        # Where the requests of +place+, or of all places, spent their time: see Cuttle::Ledger.
        def ledger(place = nil)
          @books.read(place ? [place].select { |number| number < @room } : (0...@room).to_a)
        end

        # The workers don't take turns to collect garbage, so each may always do so.
        def take_turn
          true
        end

        def end_turn; end

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
