# frozen_string_literal: true

module Cuttle
  module Telemetry
    module Metrics
      # A phase of the ledger in few buckets: times in seconds. The bounds are bounds of the ledger too, so each count
      # is exact. +counts+ has one entry for each of the .bounds and one for what is above them.
      class Histogram
        # The bounds that are wanted, in seconds. Each becomes the least bound of the ledger that is not below it.
        WANTED = [0.0001, 0.0003, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60].freeze

        class << self
          # The upper bounds in seconds.
          def bounds
            @bounds ||= places.map { |place| Ledger::BOUNDS[place] / 1e9 }.freeze
          end

          # Of the ledger's +phase+.
          def of(phase)
            counts = (places + [phase[:buckets].length - 1]).each_cons(2).map do |below, place|
              phase[:buckets][(below + 1)..place].sum
            end
            new([phase[:buckets][0..places.first].sum, *counts], phase[:sum] / 1e9)
          end

          private

          # Where the bounds are in the ledger.
          def places
            @places ||= WANTED.filter_map { |bound| Ledger::BOUNDS.index { |each| each >= bound * 1e9 } }
                              .select { |place| Ledger::BOUNDS[place].finite? }.uniq.freeze
          end
        end

        attr_reader :counts, :sum

        def initialize(counts, sum)
          @counts = counts
          @sum = sum
        end

        # All samples.
        def count = @counts.sum

        # [[upper bound in seconds, samples up to it], …]; the last bound is Infinity.
        def cumulative
          sum = 0
          [*Histogram.bounds, Float::INFINITY].zip(@counts).map { |bound, count| [bound, sum += count] }
        end
      end
    end
  end
end
