# frozen_string_literal: true

module Cuttle
  module Load
    # Histograms as Hashes, for JSON and for other generators: exact both ways.
    #
    #   { count:, min:, max:, sum:, squares:, clipped:, slots: [index, count, index, count, …] }
    #
    # Slot i holds the nanoseconds Histogram.lowest(i)..Histogram.highest(i). Below 2048, that is i itself. From there,
    # with d = i / 1024 - 1, it is 2**d values from (i % 1024 + 1024) * 2**d.
    module Histograms
      ENOUGH = 10 # values that must lie beyond a percentile for the percentile to be meaningful

      CURVE = [*(0..85).step(5), 87.5, 90, 92, 94, 95, 96, 97, 98, 98.5, 99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.93, 99.95,
               99.97, 99.98, 99.99].freeze

      module_function

      def to_h(histogram)
        { count: histogram.count, min: histogram.min, max: histogram.max, sum: histogram.sum,
          squares: histogram.squares, clipped: histogram.clipped, slots: histogram.pairs }
      end

      # Adds the content of +hash+ (keys are Symbols or Strings) to +histogram+, and returns the histogram.
      def fill(histogram, hash)
        hash = hash.transform_keys(&:to_sym)
        histogram.fill(*hash.values_at(:slots, :min, :max, :sum, :squares, :clipped))
      end

      # From to_h.
      def load(hash)
        fill(Histogram.new, hash)
      end

      # Nanoseconds, or nil if fewer than ENOUGH values lie beyond, because such a percentile depends on chance.
      def percentile(histogram, percentile)
        histogram.value_at(percentile) if histogram.count * (100 - percentile) / 100.0 >= ENOUGH - 1e-6
      end

      # The points of a percentile curve: { percentile => nanoseconds }. It ends where fewer than ENOUGH values lie
      # beyond.
      def curve(histogram)
        return {} if histogram.count.zero?

        drawn = CURVE.select { |each| each <= 50 || percentile(histogram, each) }
        drawn.to_h { |each| [each, histogram.value_at(each)] }
      end

      def sum(histograms)
        histograms.each_with_object(Histogram.new) { |histogram, sum| sum.add(histogram) }
      end
    end
  end
end
