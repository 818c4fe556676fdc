# frozen_string_literal: true

module Cuttle
  module Lab
    # Loads a server in pieces until two pieces in a row have the same rate, or until its time is over.
    class WarmUp
      PIECES = 4 # at most
      LEAST = 0.05 # seconds a piece
      SAME = 0.1 # of the rate
      DEVIATIONS = 3 # of chance, that few responses may differ by

      # load: called with the seconds of a piece, returns a Load::Result.
      def initialize(seconds, &load)
        @seconds = seconds
        @load = load
      end

      # Whether it became steady; nil where there was no time for a warm-up, or it was interrupted.
      def call
        return if @seconds < LEAST * 2

        before = nil
        PIECES.times do
          piece = @load.call([@seconds / PIECES, LEAST].max)
          return if piece.interrupted?
          return true if before && same?(before, piece)

          before = piece
        end
        false
      end

      private

      def same?(one, other)
        counts = [one, other].map(&:responses)
        return false unless counts.all?(&:positive?)

        chance = DEVIATIONS * Math.sqrt(counts.sum { |count| 1.0 / count })
        (other.rate - one.rate).abs <= [SAME, chance].max * [one.rate, other.rate].max
      end
    end
  end
end
