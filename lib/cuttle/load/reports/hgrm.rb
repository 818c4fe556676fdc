# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # HdrHistogram's percentile text, in milliseconds, for the programs that plot it.
      module Hgrm
        TICKS = 5 # steps until the distance to 100% is half as long

        module_function

        def render(result)
          histogram = result.latency
          lines = [format("%12s %14s %10s %14s", "Value", "Percentile", "TotalCount", "1/(1-Percentile)"), ""]
          lines.concat(rows(histogram)) if histogram.count.positive?
          lines.concat(footer(histogram)).join("\n") << "\n"
        end

        def rows(histogram)
          rows = percentiles(histogram.count).map { |percentile| row(histogram, percentile) }.uniq { |row| row[0, 2] }
          last = [histogram.max, 100.0, histogram.count]
          [*rows.reject { |row| row[1] >= 100 }, last].map { |row| line(*row) }
        end

        def row(histogram, percentile)
          value = histogram.value_at(percentile)
          [value, percentile, histogram.count_to(value)]
        end

        def line(value, percentile, count)
          inverse = percentile < 100 ? format("%14.2f", 100 / (100 - percentile)) : ""
          format("%12.3f %14.12f %10d %s", value / 1e6, percentile / 100, count, inverse).rstrip
        end

        # 0, 10, 20 … 50, 55 … 75, 77.5 …: TICKS steps for each halving, until only one value lies beyond.
        def percentiles(count)
          Enumerator.produce([0.0, 1]) do |percentile, halvings|
            following = percentile + 100.0 / (TICKS * 2**halvings)
            [following, following >= 100 - 100.0 / 2**halvings - 1e-9 ? halvings + 1 : halvings]
          end.lazy.map(&:first).take_while { |percentile| (100 - percentile) / 100 * count >= 1 }.to_a
        end

        def footer(histogram)
          [format("#[Mean    = %12.3f, StdDeviation   = %12.3f]", histogram.mean / 1e6, histogram.deviation / 1e6),
           format("#[Max     = %12.3f, Total count    = %12d]", histogram.max / 1e6, histogram.count),
           format("#[Buckets = %12d, SubBuckets     = %12d]", 32, 2048)]
        end
      end
    end
  end
end
