# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Measures whether a transfer is fast enough. It may fall behind its minimum rate by 10 seconds at its start, and
      # by up to 30 after it was faster for a while.
      class Meter
        GRACE = 10.0
        CREDIT = 30.0

        attr_reader :began

        def initialize(octets, now)
          @began = @looked = @moved = now
          @octets = octets
          @slack = GRACE
        end

        # +octets+: how many have moved in all; +rate+: the least octets per second, or nil; +stall+: the longest time
        # without progress, or nil.
        def late?(octets, rate, stall, now)
          earned = rate ? (octets - @octets) / rate.to_f : 0
          @moved = now if octets != @octets
          @slack = [@slack + earned - (now - @looked), CREDIT].min
          @looked = now
          @octets = octets
          (!rate.nil? && @slack.negative?) || (!stall.nil? && now - @moved >= stall)
        end
      end
    end
  end
end
