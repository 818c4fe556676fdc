# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The table of a study: a row for each published one on each server that it was tried on.
      module Rows
        NUMBERS = Lab::Report::Numbers
        METRICS = { "rate" => "requests/s", "mean" => "mean", "p50" => "p50", "p90" => "p90", "p99" => "p99" }.freeze

        # cells: for each metric of the table nil, or [published, ours, ratio] as texts.
        Row = Struct.new(:id, :server, :load, :cells, :reason)

        module_function

        # [metrics that the table has, Rows].
        def of(findings)
          comparisons = findings.comparisons.group_by { |each| [each.entry, each.cell] }
          metrics = METRICS.keys & findings.study.entries.flat_map { |entry| entry.row.values.keys }
          rows = findings.study.entries.flat_map do |entry|
            next [Row.new(entry.row.id, nil, nil, [], entry.reason)] if entry.cells.empty?

            entry.cells.map { |cell| row(entry, cell, metrics, comparisons.fetch([entry, cell], []), findings) }
          end
          [metrics, rows]
        end

        def row(entry, cell, metrics, comparisons, findings)
          cells = metrics.map { |metric| comparisons.find { |each| each.metric == metric }&.then { |found| texts(found) } }
          cells = published_nothing(cell, metrics, findings) if comparisons.empty?
          Row.new(entry.row.id, cell.name, cell.load_name, cells, nil)
        end

        # A row of which only the order of servers was published: ours stand alone.
        def published_nothing(cell, metrics, findings)
          metrics.map { |metric| findings.estimate(cell, metric)&.then { |found| [nil, number(metric, found.value), nil] } }
        end

        def texts(comparison)
          [Array(comparison.published).map { |value| number(comparison.metric, value) }.join(" to "),
           comparison.ours ? number(comparison.metric, comparison.ours.value) : NUMBERS::NONE, NUMBERS.ratio(comparison.ratio)]
        end

        def number(metric, value)
          metric == "rate" ? NUMBERS.rate(value) : NUMBERS.milliseconds(value)
        end

        # "1.93 (1.88 to 1.98)" of an Estimate.
        def estimate(found)
          return NUMBERS::NONE unless found

          interval = NUMBERS.interval(found, :ratio)
          "#{NUMBERS.ratio(found.value)}#{" (#{interval})" if interval}"
        end

        # What was made shorter, or nil.
        def scale(scale)
          return if scale.full?

          "waits, computing and numbers of requests are #{format("%g", scale.factor)} times the original's; rates and times " \
            "of shortened requests are told as at full length"
        end
      end
    end
  end
end
