# frozen_string_literal: true

module Cuttle
  module Studies
    # A published number and this project's number for the same condition, both at full length.
    #
    #   entry, condition, metric
    #   published   a number; [low, high] if a range was published; nil if nothing was published
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

    # The findings from a study's results: each published number beside the measured one, and a verdict on each claim.
    # Results are cached.
    #
    # Rule: two conditions are compared only within the same rounds, and an interval covers the variation between starts
    # of servers.
    class Findings
      # Keys that identify a configuration and a load. The name is one of them: a server that has no option to close
      # connections is the same, whether or not requests ask it to close them.
      KEY = ([*Condition::SERVING, *Condition::ASKING, :series, :path, :name] - %i[ruby request full_length])
            .map(&:to_s).freeze
      OURS = Condition::OURS

      attr_reader :study, :scale, :results

      # before: the number of a round; only rounds before it count. nil: all count.
      def initialize(study, scale, results, before: nil)
        @study = study
        @scale = scale
        @results = results
        @before = before
        @ids_of = {}
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

      # An Array of Verdict.
      def verdicts
        @verdicts ||= Verdicts.new(self).all
      end

      # The number of measured rounds.
      def rounds
        results.runs.map(&:block).uniq.length
      end

      # The pairs of ids, of a configuration and a load, behind each statement whose ratio is not known with that
      # relative precision. It considers only the widths of intervals, never their position: measuring until there is a
      # verdict would produce one. (Shares of errors may be 0, and have no such precision.) The A/A control accompanies
      # them: one of fewer rounds would not show what noise there is.
      def imprecise(share)
        wide = tested(verdicts) { |statement, found| !statement.of_errors? && !precise?(found, share) }
        wide |= study.control if wide.any?
        wide.map { |condition| ids_of(condition) }.select(&:all?)
      end

      # The conditions on which the verdicts on published claims are based; without such claims, those of all.
      def decisive
        published = verdicts.select { |verdict| verdict.claim.published? }
        tested(published.empty? ? verdicts : published)
      end

      # The A/A control: a metric of an unchanged copy of a condition / that of the condition. An Estimate, or nil if it
      # was not measured.
      def control
        one, other = study.control.map { |condition| by_round(condition, study.control_metric) }
        return unless one && other && (one.keys & other.keys).length > 1

        Lab::Statistics.paired_ratio(one, other)
      end

      # The cores that the load shared with the servers.
      def shared_cores
        results.environment.values_at("server_cores", "load_cores").map(&:to_a).reduce(:&)
      end

      # The median share of a core that the load took from the servers in a condition's runs; nil if it had cores of its
      # own, or if that was not kept.
      def load_share(condition)
        shares = runs(condition).filter_map(&:load_cpu) if shared_cores.any?
        Lab::Statistics.median(shares) if shares&.any?
      end

      # Why a condition could not be measured, or nil.
      def missing(condition)
        id, = ids_of(condition)
        results.missing.find { |each| each.configuration == id }&.then { |each| "#{condition.name}: #{each.reason}" }
      end

      # The ids, of a configuration and a load, of each condition that was to be measured.
      def pairs
        (study.conditions | study.control).map { |condition| ids_of(condition) }
      end

      # Whether the plan has that condition. Part of a study has only some of them.
      def planned?(condition)
        configuration, load = ids_of(condition)
        results.pairs.fetch(configuration, []).include?(load)
      end

      # Runs of a condition in the order of their rounds, if they are valid for that metric.
      def runs(condition, metric = Metric.fetch("rate"))
        configuration, load = ids_of(condition)
        return [] unless configuration && load

        runs = results.runs(configuration: configuration, load: load).select { |run| metric.tells?(run) }
        @before ? runs.select { |run| run.block < @before } : runs
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

      # { round => value } of a condition for a metric's name, at full length.
      def by_round(condition, name)
        metric = Metric.fetch(name)
        factor = factor(condition, metric)
        values = runs(condition, metric).to_h { |run| [run.block, metric.value(run, condition.processes)] }
        values.compact.transform_values { |value| value * factor }
      end

      # The factor that converts a metric of a condition to full length.
      def factor(condition, metric)
        condition.request.scaled? ? metric.factor(condition.scale(scale)) : 1.0
      end

      private

      # The conditions behind the tested statements of these Verdicts, or only behind those that the block selects, by
      # what was found.
      def tested(verdicts)
        verdicts.flat_map do |verdict|
          chosen = verdict.evidence.reject(&:reason)
          chosen.select! { |each| yield(each.statement, each.found) } if block_given?
          chosen.flat_map { |each| verdict.conditions.values_at(*each.statement.figures) }
        end.uniq
      end

      # For results of earlier versions, whose loads did not adapt to percentiles, this is the load as declared.
      def ids_of(condition)
        @ids_of[condition] ||= begin
          loads = [study.load(condition, scale), condition.load(scale)].map { |load| @ids[:loads][key(load)] }
          [@ids[:configurations][key(condition.configuration)], loads.compact.first]
        end
      end

      # The ids of records by the keys that identify them.
      def index(records)
        records.to_h { |record| [key(record.to_h), record.id] }
      end

      def key(hash)
        hash.slice(*KEY).compact
      end

      def precise?(found, share)
        found&.interval? && found.high <= found.value * (1 + share) && found.low >= found.value / (1 + share)
      end

      # No measured value is below 0.
      def interval(values)
        found = Lab::Statistics.median_interval(values) if values.any?
        found&.low&.negative? ? Lab::Statistics::Estimate.new(found.value, 0.0, found.high, found.count) : found
      end

      def lengthened(estimate, factor)
        numbers = [estimate.value, estimate.low, estimate.high].map { |each| each && (each * factor) }
        Lab::Statistics::Estimate.new(*numbers, estimate.count)
      end
    end
  end
end
