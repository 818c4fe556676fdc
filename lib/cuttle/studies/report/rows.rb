# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The table of a study: a row for each published row or trial, on each server on which it was measured.
      module Rows
        # The metrics of questions without expectations.
        USUAL = %w[rate p50 p99].freeze

        # metrics: names, in the order of columns. rows: an Array of Row.
        Table = Struct.new(:metrics, :rows) do
          # Whether any row has a published number.
          def published?(metric)
            rows.any? { |row| row.value(metric)&.published }
          end
        end

        # condition: nil if the row isn't measured. values: an Array of Reproduction; published is nil if there is no
        # such number.
        Row = Struct.new(:entry, :condition, :values) do
          def id
            entry.row.id
          end

          # The text that distinguishes a trial from others with its id.
          def settings
            entry.row.file ? "" : entry.row.settings
          end

          def server
            condition.name
          end

          def load
            condition.load_name
          end

          # Why the row isn't measured, or nil.
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
          metrics = metrics(findings.study)
          rows = findings.study.entries.flat_map { |entry| of_entry(entry, metrics.fetch(entry), findings) }
          Table.new(Metric.names & rows.flat_map { |row| row.values.map(&:metric) }, rows)
        end

        def of_entry(entry, metrics, findings)
          return [Row.new(entry, nil, [])] if entry.conditions.empty?

          entry.conditions.map do |condition|
            Row.new(entry, condition, metrics.map { |metric| value(entry, condition, metric, findings) })
          end
        end

        # { entry => names of its metrics }: the published ones, and those that a claim is about. An entry without
        # published numbers has all metrics of its study.
        def metrics(study)
          metrics = claimed(study)
          study.entries.each { |entry| metrics[entry] |= entry.row.values.keys }
          all = metrics.values.flatten.uniq
          all = USUAL if all.empty?
          study.entries.select { |entry| entry.row.values.empty? }.each { |entry| metrics[entry] = all }
          metrics
        end

        # { entry => metrics of the claims about it }
        def claimed(study)
          metrics = {}.compare_by_identity
          study.entries.each { |entry| metrics[entry] = [] }
          study.claims.flat_map { |claim| claim.statements.flat_map(&:figures) }.uniq.each do |figure|
            study.entries_of(figure.id, figure.columns).each { |entry| metrics[entry] |= [figure.metric] }
          end
          metrics
        end

        def value(entry, condition, metric, findings)
          Reproduction.new(entry: entry, condition: condition, metric: metric, published: entry.row.values[metric],
                           ours: findings.estimate(condition, metric))
        end
      end
    end
  end
end
