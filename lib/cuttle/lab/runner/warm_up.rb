# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Loads a server in pieces until two successive pieces have about the same response times, or until the time is
      # over. (Response times, not the rate: in an open loop, the rate is given and shows nothing.)
      #
      # Rule: pieces with few or widely varying response times can't show that a server is steady. The answer is then
      # unknown, never yes.
      class WarmUp
        PIECES = 4 # most pieces
        LEAST = 0.05 # least seconds of a piece
        LATE = 4 # times the seconds of the warm-up; no piece begins later. Each piece ends with its last response
        SAME = 0.1 # share of the mean response time; a smaller difference means steady
        DEVIATIONS = 3 # number of standard deviations by which two means may differ by chance
        BLIND = 0.25 # if chance can cause a difference of this share, the pieces show nothing

        # load: called with the seconds of a piece, returns a Load::Result.
        def initialize(seconds, &load)
          @seconds = seconds
          @load = load
          @histograms = []
        end

        # Whether the response times became steady. nil if unknown: there was no time, the warm-up was interrupted, or
        # there were too few responses.
        def call
          return if @seconds < LEAST * 2

          began = Cuttle.now
          PIECES.times do
            break if Cuttle.now - began > LATE * @seconds

            piece = @load.call([@seconds / PIECES, LEAST].max)
            return if piece.interrupted?

            @histograms << piece.latency
            return true if compare(1) || compare(2)
          end
          compare(2).nil? ? compare(1) : false
        end

        private

        # Whether the last +count+ pieces are like the +count+ before; nil if the pieces can't show it.
        def compare(count)
          return if @histograms.length < 2 * count

          pieces = @histograms.last(2 * count).each_slice(count).map { |each| Load::Histograms.sum(each) }
          return if pieces.any? { |piece| piece.count < 2 || !piece.mean.positive? }

          difference = Math.log(pieces[1].mean / pieces[0].mean).abs
          chance = DEVIATIONS * Math.sqrt(pieces.sum { |piece| error(piece)**2 })
          return false if difference > [SAME, chance].max

          true unless chance > BLIND
        end

        # The standard error of the mean, divided by the mean.
        def error(piece)
          Math.sqrt(variance(piece) / piece.count) / piece.mean
        end

        # The variance of a sample: divides by n - 1.
        def variance(piece)
          [(piece.squares - (piece.count * (piece.mean**2))) / (piece.count - 1), 0.0].max
        end
      end
    end
  end
end
