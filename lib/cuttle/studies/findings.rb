# frozen_string_literal: true

module Cuttle
  module Studies
    # A published number beside our own number for the same condition, both at full length.
    #
    #   entry, condition, metric
    #   published   a number; [low, high] if a range was published; nil if nothing was
    #   ours        a Lab Estimate; nil if it was not measured, or if there are too few responses for that percentile
    Reproduction = Struct.new(:entry, :condition, :metric, :published, :ours, keyword_init: true) do
      # Our number divided by the published one, or by the middle of a published range; nil if that is 0.
      def ratio
        ours && base&.positive? ? ours.value / base : nil
      end

      # The same with its interval: a Lab Estimate, or nil.
      def estimate
        return unless ratio

        ratios = [ours.value, ours.low, ours.high].map { |each| each && (each / base) }
        Lab::Statistics::Estimate.new(*ratios, ours.count)
      end

      private

      def base
        published.is_a?(Array) ? published.sum / 2 : published
      end
    end

    # What a study's results say: each published number beside ours, and a verdict on each claim. It caches what it has
    # computed.
    #
    # Rule: two conditions are compared only within the same rounds, and an interval covers the variation between starts
    # of servers. Nothing is confirmed or refuted unless its interval says so.
    class Findings
      # The verdict on a claim. by: the servers on which it was tested. evidence: [[Statement, Estimate or nil,
      # verdict], …]. reason: why it could not be tested, or nil. forecast: what the model expects with more cores,
      # [[Statement, ratio or nil], …], or nil.
      Verdict = Struct.new(:claim, :by, :verdict, :evidence, :reason, :forecast)

      WORDS = { confirmed: "confirmed", refuted: "refuted", undecided: "not decided",
                untestable: "not testable here" }.freeze
      # Keys that identify a configuration and a load. The name is one of them: a server that can't close connections by
      # itself is the same, whether requests ask it to or not.
      KEY = [*Condition::SERVING, *Condition::ASKING, :series, :path, :name].map(&:to_s).freeze - %w[ruby request]
      OURS = "cuttle"
      # By Claim::SIDES: whether a condition is on that side.
      SIDES = { ours: ->(condition) { condition.server == OURS },
                originals: ->(condition) { condition.server != OURS } }.freeze

      attr_reader :study, :scale, :results

      def initialize(study, scale, results)
        @study = study
        @scale = scale
        @results = results
        @ids = { configurations: index(results.configurations), loads: index(results.loads) }
      end

      # An Array of Reproduction, in the published order.
      def reproductions
        @reproductions ||= study.entries.flat_map do |entry|
          entry.conditions.flat_map do |condition|
            entry.row.values.map do |metric, value|
              Reproduction.new(entry: entry, condition: condition, metric: metric, published: value,
                               ours: estimate(condition, metric))
            end
          end
        end
      end

      # An Array of Verdict. Each claim is tested on our core first, then on the published servers if they were
      # measured.
      def verdicts
        @verdicts ||= study.claims.flat_map do |claim|
          cores = results.environment["server_cores"].length
          reason = claim.reason(cores)
          forecast = Forecasts.new(self).of(claim) if claim.short?(cores)
          reason ? [untestable(claim, nil, reason, forecast)] : tried(claim)
        end
      end

      # Whether the plan has that condition. A part of a study has not all of them.
      def planned?(condition)
        ids_of(condition).all?
      end

      # Runs of a condition in the order of their rounds, if the metric may be read from them.
      def runs(condition, metric = Metric.fetch("rate"))
        configuration, load = ids_of(condition)
        return [] unless configuration && load

        results.runs(configuration: configuration, load: load).select { |run| metric.tells?(run) }
      end

      # A metric of a condition, at full length: a Lab Estimate, or nil.
      def estimate(condition, name)
        metric = Metric.fetch(name)
        runs = runs(condition, metric)
        found = if metric.percentile
                  Lab::Analysis::Table.percentile(runs, metric.percentile)
                else
                  interval(runs.filter_map { |run| metric.value(run, condition.processes) })
                end
        found && lengthened(found, factor(condition, metric))
      end

      # { round => value } of a condition by a metric's name, at full length.
      def by_round(condition, name)
        metric = Metric.fetch(name)
        factor = factor(condition, metric)
        values = runs(condition, metric).to_h { |run| [run.block, metric.value(run, condition.processes)] }
        values.compact.transform_values { |value| value * factor }
      end

      private

      def ids_of(condition)
        [@ids[:configurations][key(condition.configuration)], @ids[:loads][key(condition.load(scale))]]
      end

      # The ids of records by the keys that identify them.
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
        numbers = [estimate.value, estimate.low, estimate.high].map { |each| each && (each * factor) }
        Lab::Statistics::Estimate.new(*numbers, estimate.count)
      end

      def factor(condition, metric)
        condition.request.scaled? ? metric.factor(scale) : 1.0
      end

      def untestable(claim, by, reason, forecast = nil)
        Verdict.new(claim, by, :untestable, [], reason, forecast)
      end

      # A Verdict for each side that the claim's conditions have.
      def tried(claim)
        figures = claim.statements.flat_map(&:figures)
        sides = SIDES.values_at(*claim.sides)
        by_figure = sides.map { |side| figures.to_h { |figure| [figure, condition(figure, side)] } }
        by_figure.uniq(&:values).map do |conditions|
          by = servers(conditions.values)
          reason = conditions.values.filter_map { |each| missing(each) }.first
          reason ? untestable(claim, by, reason) : verdict(claim, by, conditions)
        end
      end

      # The first condition of a figure on that side, or the first of all if that side has none.
      def condition(figure, side)
        conditions = study.entries_of(figure.id, figure.columns).flat_map(&:conditions)
        conditions.find(&side) || conditions.first
      end

      # "our core", "puma and unicorn".
      def servers(conditions)
        conditions.map { |each| each.server == OURS ? "our core" : each.server }.uniq.sort.join(" and ")
      end

      # Why it could not be measured, or nil.
      def missing(condition)
        id, = ids_of(condition)
        results.missing.find { |each| each.configuration == id }&.then { |each| "#{condition.name}: #{each.reason}" }
      end

      # conditions: by the claim's figures.
      def verdict(claim, by, conditions)
        @evidence ||= Evidence.new(self)
        evidence = claim.statements.map do |statement|
          found = @evidence.ratio(statement, conditions)
          [statement, found, statement.verdict(found)]
        end
        Verdict.new(claim, by, claim.verdict(evidence.map(&:last)), evidence)
      end
    end
  end
end
