# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # A line for each second. Times are in milliseconds, and empty in a second without a response.
      module Csv
        PERCENTILES = [50, 90, 99, 99.9].freeze
        HEADER = %w[second length sent responses good rate octets min_ms mean_ms max_ms].freeze

        module_function

        def render(result)
          header = [*HEADER, *PERCENTILES.map { |percentile| "p#{percentile}_ms" }, *Result::ERRORS]
          rows = result.windows.reject(&:draining?).map { |window| row(window) }
          [header, *rows].map { |cells| "#{cells.join(",")}\n" }.join
        end

        def row(window)
          [format("%g", window.from), format("%g", window.length.round(6)), window.sent, window.responses, window.good,
           format("%.3f", window.rate), window.octets, *times(window.histogram),
           *Result::ERRORS.map { |name| window.errors.fetch(name, 0) }]
        end

        def times(histogram)
          percentiles = PERCENTILES.map { |percentile| histogram.value_at(percentile) }
          [histogram.min, histogram.mean, histogram.max, *percentiles].map do |time|
            format("%.6f", time / 1e6) unless histogram.count.zero?
          end
        end
      end
    end
  end
end
