# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Loads a server in pieces until two successive pieces have about the same response times, or until the time is
      # over. (In a closed loop the rate follows from these; in an open one, the rate is given and shows nothing.)
      #
      # Rule: pieces with few or very different response times can't show that a server is steady. Then the answer is
      # not known, never yes.
      class WarmUp
        PIECES = 4 # at most
        LEAST = 0.05 # seconds a piece
        SAME = 0.1 # of the mean response time; a smaller difference is steady
        DEVIATIONS = 3 # standard deviations that two means may differ by chance
        BLIND = 0.25 # if chance may cause this difference, the pieces show nothing

        # load: called with the seconds of a piece, returns a Load::Result.
        def initialize(seconds, &load)
          @seconds = seconds
          @load = load
          @histograms = []
        end

        # Whether the response times became steady. nil if that is not known: there was no time, the warm-up was
        # interrupted, or there were too few responses.
        def call
          return if @seconds < LEAST * 2

          PIECES.times do
            piece = @load.call([@seconds / PIECES, LEAST].max)
            return if piece.interrupted?

            @histograms << piece.latency
            return true if compare(1) || compare(2)
          end
          compare(2).nil? ? compare(1) : false
        end

        private

        # Whether the last +count+ pieces are like the +count+ before; nil if they can't show that.
        def compare(count)
          return if @histograms.length < 2 * count

          pieces = @histograms.last(2 * count).each_slice(count).map { |each| Load::Histograms.sum(each) }
          return if pieces.any? { |piece| piece.count < 2 || !piece.mean.positive? }

          difference = Math.log(pieces[1].mean / pieces[0].mean).abs
          chance = DEVIATIONS * Math.sqrt(pieces.sum { |piece| error(piece)**2 })
          return false if difference > [SAME, chance].max

          true unless chance > BLIND
        end

        # The standard error of the mean, as a share of it.
        def error(piece)
          Math.sqrt(variance(piece) / piece.count) / piece.mean
        end

        # Of a sample: by n - 1.
        def variance(piece)
          [(piece.squares - (piece.count * (piece.mean**2))) / (piece.count - 1), 0.0].max
        end
      end
    end
  end
end
