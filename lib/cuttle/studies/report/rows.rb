# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The table of a study: a row for each published one, or trial, on each server that it was tried on.
      module Rows
        # Of questions about which nothing is expected.
        USUAL = %w[rate p50 p99].freeze

        # metrics: names, in the order of columns. rows: Row each.
        Table = Struct.new(:metrics, :rows) do
          # Whether there is anything published to stand beside ours.
          def published?(metric)
            rows.any? { |row| row.value(metric)&.published }
          end
        end

        # cell: nil where it isn't measured. values: Reproduction each, published nil where it has no such number.
        Row = Struct.new(:entry, :cell, :values) do
          def id
            entry.row.id
          end

          # What a trial is known by, beside its id.
          def told
            entry.row.file ? "" : entry.row.told
          end

          def server
            cell.name
          end

          def load
            cell.load_name
          end

          # Why it isn't measured, or nil.
          def reason
            entry.reason
          end

          def value(metric)
            values.find { |each| each.metric == metric }
          end
        end

        module_function

        # A Table.
        def of(findings)
          told = metrics(findings.study)
          rows = findings.study.entries.flat_map { |entry| of_entry(entry, told.fetch(entry), findings) }
          Table.new(Metric.names & rows.flat_map { |row| row.values.map(&:metric) }, rows)
        end

        def of_entry(entry, metrics, findings)
          return [Row.new(entry, nil, [])] if entry.conditions.empty?

          entry.conditions.map do |cell|
            Row.new(entry, cell, metrics.map { |metric| value(entry, cell, metric, findings) })
          end
        end

        # { entry => names of metrics } that are told of it: what was published of it, and what is claimed of it; of one
        # without numbers all that its study tells of.
        def metrics(study)
          told = claimed(study)
          study.entries.each { |entry| told[entry] |= entry.row.values.keys }
          all = told.values.flatten.uniq
          all = USUAL if all.empty?
          study.entries.select { |entry| entry.row.values.empty? }.each { |entry| told[entry] = all }
          told
        end

        # { entry => metrics of the claims' figures that are about it }
        def claimed(study)
          told = {}.compare_by_identity
          study.entries.each { |entry| told[entry] = [] }
          study.claims.flat_map { |claim| claim.statements.flat_map(&:figures) }.uniq.each do |figure|
            study.entries_of(figure.id, figure.columns).each { |entry| told[entry] |= [figure.metric] }
          end
          told
        end

        def value(entry, cell, metric, findings)
          Reproduction.new(entry: entry, condition: cell, metric: metric, published: entry.row.values[metric],
                         ours: findings.estimate(cell, metric))
        end
      end
    end
  end
end
