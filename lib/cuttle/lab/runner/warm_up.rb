# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Loads a server in pieces until two successive pieces have about the same response times, or until the time is
      # over. (Response times, not the rate: in an open loop, the rate is given and shows nothing.) While the server
      # gets faster, it goes on for longer: a just-in-time compiler may need seconds, and needs them in each process.
      #
      # Rule: pieces with few or widely varying response times can't show that a server is steady. The answer is then
      # unknown, never yes.
      class WarmUp
        PIECES = 4 # most pieces, unless the server gets faster
        MOST = 10 # seconds; no piece begins later
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
          while goes_on?(Cuttle.now - began)
            piece = @load.call([@seconds / PIECES, LEAST].max)
            return if piece.interrupted?

            @histograms << piece.latency
            return true if compare(1) || compare(2)
          end
          compare(2).nil? ? compare(1) : false
        end

        private

        # passed: seconds since the start. Further pieces cost little at first, so a guess is enough. Later, the
        # server must be faster by more than a standard error.
        def goes_on?(passed)
          return @histograms.length < PIECES || faster?(0) if passed <= LATE * @seconds

          @histograms.length >= PIECES && passed < [MOST, @seconds].max && faster?(1)
        end

        # Whether the second half of all pieces was faster than the first, by more than so many standard errors.
        def faster?(errors)
          change, error = change(@histograms.length / 2)
          change ? -change > [SAME, errors * error].max : false
        end

        # Whether the last +count+ pieces are like the +count+ before; nil if the pieces can't show it.
        def compare(count)
          change, error = change(count) || return
          chance = DEVIATIONS * error
          return false if change.abs > [SAME, chance].max

          true unless chance > BLIND
        end

        # The logarithm of the ratio of the mean response times of the last +count+ pieces and of the +count+ before,
        # and its standard error; nil if there are too few pieces, or responses.
        def change(count)
          return if @histograms.length < 2 * count

          pieces = @histograms.last(2 * count).each_slice(count).map { |each| Load::Histograms.sum(each) }
          return if pieces.any? { |piece| piece.count < 2 || !piece.mean.positive? }

          [Math.log(pieces[1].mean / pieces[0].mean), Math.sqrt(pieces.sum { |piece| error(piece)**2 })]
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
