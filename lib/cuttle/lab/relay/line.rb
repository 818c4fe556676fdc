# frozen_string_literal: true

module Cuttle
  module Lab
    class Relay
      # One direction of a network: what is sent waits until what was sent before it is on its way, takes its size by
      # the bandwidth to be so itself, and arrives a delay later. Times are seconds on one clock, sizes octets.
      class Line
        # What may be on a line where no bandwidth says how much fits.
        WIDE = 16 * 1024 * 1024
        # And where one does, at least: what stands in a router's buffer.
        BUFFER = 64 * 1024

        attr_reader :delay

        def initialize(delay, bandwidth)
          @delay = delay
          @bandwidth = bandwidth
          @free = 0.0
        end

        # Takes +size+ octets at +now+; returns when the last of them arrives.
        def carry(size, now)
          @free = [@free, now].max
          @free += size.fdiv(@bandwidth) if @bandwidth
          @free + @delay
        end

        # How much may be under way at once; then a sender has to wait.
        def capacity
          @bandwidth ? [(@bandwidth * @delay).ceil, BUFFER].max : WIDE
        end

        # How much is taken at once: what arrives together, 20 ms' worth and never less than a packet.
        def portion
          @bandwidth ? (@bandwidth / 50).clamp(1460, BUFFER) : BUFFER
        end
      end
    end
  end
end
