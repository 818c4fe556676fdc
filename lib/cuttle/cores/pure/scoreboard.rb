# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What the workers of a server know of each other: nothing. A worker of this core accepts only while it has a free
      # thread, and shows nobody how many connections it has.
      class Scoreboard
        MOST = 4_096

        def initialize(room)
          raise ArgumentError, "a scoreboard has 1 to #{MOST} places" unless room.between?(1, MOST)
        end

        def take(_number)
          false
        end

        def clear(_number)
          self
        end

        # Nobody knows whose turn it is to collect garbage, so it is everybody's.
        def take_turn
          true
        end

        def end_turn; end

        def to_a
          []
        end
      end
    end
  end
end
