# frozen_string_literal: true

module Cuttle
  module Studies
    # What a study's results say: each published number beside ours, and each claim's verdict. Frozen once read.
    #
    # The law: what is compared between two cells was measured in the same blocks, and an interval is between starts of
    # servers. Nothing is confirmed or refuted unless its interval says so.
    class Findings
      # Of a claim. by: the servers that it was tried on. evidence: [[Statement, Estimate or nil, verdict], …].
      # reason: why it could not be tested, or nil.
      Verdict = Struct.new(:claim, :by, :verdict, :evidence, :reason)

      WORDS = { confirmed: "confirmed", refuted: "refuted", undecided: "not decided",
                untestable: "not testable here" }.freeze
      # What a configuration and a load are known again by. By its name too: a server that can't be told to close
      # connections is the same whether requests ask it to or not.
      KEY = [*Cell::SERVING, *Cell::ASKING, :series, :path, :name].map(&:to_s).freeze - %w[ruby request]
      OURS = "cuttle"
      # By Claim::SIDES: whether a cell is on that side.
      SIDES = { ours: ->(cell) { cell.server == OURS }, originals: ->(cell) { cell.server != OURS } }.freeze

      attr_reader :study, :scale, :results

      def initialize(study, scale, results)
        @study = study
        @scale = scale
        @results = results
        @ids = { configurations: index(results.configurations), loads: index(results.loads) }
      end

      # Comparison each, in the published order.
      def comparisons
        @comparisons ||= study.entries.flat_map do |entry|
          entry.cells.flat_map do |cell|
            entry.row.values.map do |metric, value|
              Comparison.new(entry: entry, cell: cell, metric: metric, published: value, ours: estimate(cell, metric))
            end
          end
        end
      end

      # Verdict each: for every claim that on our core first, then that on the servers of then, where they were there.
      def verdicts
        @verdicts ||= study.claims.flat_map do |claim|
          reason = claim.reason(results.environment["server_cores"].length)
          reason ? [untestable(claim, nil, reason)] : tried(claim)
        end
      end

      # Whether a cell was to be measured: a part of a study has not all of them.
      def planned?(cell)
        ids_of(cell).all?
      end

      # Runs of a cell, in their blocks' order, those that the metric may be told of.
      def runs(cell, metric = Metric.fetch("rate"))
        configuration, load = ids_of(cell)
        return [] unless configuration && load

        results.runs(configuration: configuration, load: load).select { |run| metric.tells?(run) }
      end

      # Of a cell by a metric's name, at full length: Lab's Estimate, or nil.
      def estimate(cell, name)
        metric = Metric.fetch(name)
        runs = runs(cell, metric)
        found = if metric.percentile
                  Lab::Analysis::Table.percentile(runs, metric.percentile)
                else
                  interval(runs.filter_map { |run| metric.value(run, cell.processes) })
                end
        found && lengthened(found, factor(cell, metric))
      end

      # { block => value } of a cell by a metric's name, at full length.
      def by_block(cell, name)
        metric = Metric.fetch(name)
        factor = factor(cell, metric)
        values = runs(cell, metric).to_h { |run| [run.block, metric.value(run, cell.processes)] }
        values.compact.transform_values { |value| value * factor }
      end

      private

      def ids_of(cell)
        [@ids[:configurations][key(cell.configuration)], @ids[:loads][key(cell.load(scale))]]
      end

      # By what records a cell's configurations and loads are known again.
      def index(records)
        records.to_h { |record| [key(record.to_h), record.id] }
      end

      def key(hash)
        hash.slice(*KEY).compact
      end

      def interval(values)
        Lab::Statistics.median_interval(values) if values.any?
      end

      def lengthened(estimate, factor)
        Lab::Statistics::Estimate.new(*[estimate.value, estimate.low, estimate.high].map { |each| each && (each * factor) },
                                      estimate.count)
      end

      def factor(cell, metric)
        cell.request.scaled? ? metric.factor(scale) : 1.0
      end

      def untestable(claim, by, reason)
        Verdict.new(claim, by, :untestable, [], reason)
      end

      # On each side that the claim's cells have.
      def tried(claim)
        figures = claim.statements.flat_map(&:figures)
        sides = SIDES.values_at(*claim.sides)
        sides.map { |side| figures.to_h { |figure| [figure, cell(figure, side)] } }.uniq(&:values).map do |cells|
          by = servers(cells.values)
          reason = cells.values.filter_map { |each| missing(each) }.first
          reason ? untestable(claim, by, reason) : verdict(claim, by, cells)
        end
      end

      # Of a figure: the first one on that side, or of all where it has none there.
      def cell(figure, side)
        cells = study.entries_of(figure.id, figure.columns).flat_map(&:cells)
        cells.find(&side) || cells.first
      end

      # "our core", "puma and unicorn".
      def servers(cells)
        cells.map { |each| each.server == OURS ? "our core" : each.server }.uniq.sort.join(" and ")
      end

      # Why it could not be measured, or nil.
      def missing(cell)
        id, = ids_of(cell)
        results.missing.find { |each| each.configuration == id }&.then { |each| "#{cell.name}: #{each.reason}" }
      end

      # cells: by the claim's figures.
      def verdict(claim, by, cells)
        @evidence ||= Evidence.new(self)
        evidence = claim.statements.map do |statement|
          found = @evidence.ratio(statement, cells)
          [statement, found, statement.verdict(found)]
        end
        Verdict.new(claim, by, claim.verdict(evidence.map(&:last)), evidence)
      end
    end
  end
end
