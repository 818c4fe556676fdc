# frozen_string_literal: true

module Cuttle
  module Studies
    # What a study's results say: each published number beside ours, and each claim's verdict. Frozen once read.
    #
    # The law: what is compared between two cells was measured in the same blocks, and an interval is between starts of
    # servers. Nothing is confirmed or refuted unless its interval says so.
    class Findings
      # Of a claim. by: what it was tried on. evidence: [[Statement, Estimate or nil, verdict], …]. reason: why it could
      # not be tested, or nil.
      Verdict = Struct.new(:claim, :by, :verdict, :evidence, :reason)

      WORDS = { confirmed: "confirmed", refuted: "refuted", undecided: "not decided",
                untestable: "not testable here" }.freeze
      KEY = %w[server model like workers threads keep_alive environment connections path requests].freeze
      OURS = "cuttle"
      # What a claim can be tried on: the model of then on our core, and the server of then.
      SIDES = { "our core" => ->(cell) { cell.server == OURS }, "the original" => ->(cell) { cell.server != OURS } }.freeze

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
          next Verdict.new(claim, nil, :untestable, [], reason) if reason

          SIDES.keys.filter_map { |side| verdict(claim, side) }
        end
      end

      # Runs of a cell, in their blocks' order.
      def runs(cell)
        configuration, load = @ids[:configurations][key(cell.configuration)], @ids[:loads][key(cell.load(scale))]
        return [] unless configuration && load

        results.runs(configuration: configuration, load: load).select(&:valid?)
      end

      # Of a cell, at full length; or nil.
      def estimate(cell, metric)
        runs = runs(cell)
        return if runs.empty?

        found = metric == "rate" ? Lab::Statistics.median_interval(runs.map(&:rate)) : time(runs, metric)
        found && lengthened(found, cell, metric)
      end

      private

      def time(runs, metric)
        return Lab::Statistics.median_interval(runs.map { |run| run.time("mean") }) if metric == "mean"

        Lab::Analysis::Table.percentile(runs, metric.delete_prefix("p").to_f)
      end

      # A ratio of two times needs it as little as one of two rates, but for cells of different kinds.
      def factor(cell, metric)
        return 1.0 unless cell.request.scaled?

        metric == "rate" ? scale.factor : 1 / scale.factor
      end

      def lengthened(estimate, cell, metric)
        factor = factor(cell, metric)
        Lab::Statistics::Estimate.new(*[estimate.value, estimate.low, estimate.high].map { |each| each && (each * factor) },
                                      estimate.count)
      end

      # By what records a cell's configurations and loads are known again.
      def index(records)
        records.to_h { |record| [key(record.to_h), record.id] }
      end

      def key(hash)
        hash.slice(*KEY).compact
      end

      # Nil where it could not be tried on the servers of then.
      def verdict(claim, side)
        evidence = claim.statements.map do |statement|
          found = ratio(statement, side)
          [statement, found, statement.verdict(found)]
        end
        return if side != SIDES.keys.first && evidence.any? { |_, found, _| found.nil? }

        Verdict.new(claim, side, claim.verdict(evidence.map(&:last)), evidence)
      end

      # Estimate of above / below, by block.
      def ratio(statement, side)
        above, below = [statement.above, statement.below].map { |figure| by_block(figure, side) }
        Lab::Statistics.paired_ratio(below, above) if above && below
      end

      # { block => value } at full length, or nil where nothing of that kind was measured.
      def by_block(figure, side)
        cell = study.entries_of(figure.id, figure.columns).flat_map(&:cells).find(&SIDES.fetch(side))
        return unless cell

        factor = factor(cell, figure.metric)
        runs(cell).to_h { |run| [run.block, value(run, figure.metric)] }.compact.transform_values { |value| value * factor }
      end

      # Also of fewer responses than a percentile should have: what is in doubt, the blocks tell.
      def value(run, metric)
        return run.rate if metric == "rate"

        run.time(metric) || of_few(run.histogram, metric)
      end

      def of_few(histogram, metric)
        histogram.value_at(metric.delete_prefix("p").to_f) / 1e6 if histogram&.count&.positive?
      end
    end
  end
end
