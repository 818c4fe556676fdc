# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Compares two labs: everything that both measured in the same way (see Common).
      #
      # Rule: one value is one start of a server. Rounds of different labs have nothing in common, so runs are compared
      # without pairing: Student's t on logarithms, with Holm's correction for all comparisons. As within a lab, less
      # than Judgement::LEAST is no difference. The ratios include everything that changed between the labs (the
      # machine, its neighbours). #differences lists the known changes.
      class Changes
        autoload :Common, "cuttle/lab/analysis/changes/common"
        autoload :Shift, "cuttle/lab/analysis/changes/shift"

        # ratio: an Estimate of measure, other / one. p: adjusted, nil if a lab has a single run. detectable: the
        # smallest difference of the ratio from 1 that 9 of 10 such pairs of labs would detect, at the level that the
        # correction leaves for it, or nil.
        Change = Struct.new(:configuration, :load, :measure, :one, :other, :ratio, :p, :detectable,
                            keyword_init: true) do
          include Judgement
        end
        Change::LEVEL = 0.05

        CONFIDENCE = 0.95
        POWER = 0.9

        # common: which of their configurations and loads are the same.
        attr_reader :one, :other, :common

        # Takes two Results. requests: of each lab, what the results don't contain of its requests: "path", "mix",
        # "delay", "bandwidth".
        def initialize(one, other, requests: [{}, {}])
          @one = one
          @other = other
          @common = Common.new(one, other, requests)
        end

        # A Change for each configuration and load whose figures count in both labs, in the order of the first.
        def to_a
          @changes ||= correct(common.pairs.reject { |pair| faults(*pair).any? }.filter_map { |pair| change(*pair) })
        end

        # The configurations and loads whose figures don't count in a lab: [[configuration, load, 0 or 1], …].
        def faulty
          common.pairs.flat_map { |pair| faults(*pair).map { |lab| [*pair.first(2), lab] } }
        end

        # The configurations and loads that only one lab has valid figures of, with the lab that has none:
        # [[configuration, load, 0 or 1], …].
        def unmeasured
          common.pairs.filter_map do |pair|
            empty = counted(*pair).map(&:empty?)
            [*pair.first(2), empty.index(true)] if empty.one?
          end
        end

        # The differences in the app, the method and the environment, without what differs whenever it is measured:
        # { name => [in one, in the other] }.
        def differences
          said = [one, other].map { |results| described(results) }
          keys = said.flat_map(&:keys).uniq.reject { |key| said[0][key] == said[1][key] }
          keys.to_h { |key| [key, said.map { |each| each[key] }] }
        end

        private

        # The labs (0, 1) in which that pair has errors or is overloaded.
        def faults(configuration, load, other_configuration, other_load)
          @analyses ||= [one, other].map { |results| Analysis.new(results) }
          rows = [@analyses[0].row(configuration, load), @analyses[1].row(other_configuration, other_load)]
          rows.each_index.reject { |lab| rows[lab].nil? || !rows[lab].measured? || rows[lab].comparable? }
        end

        # [Change, its Shift], before the correction.
        def change(configuration, load, other_configuration, other_load)
          measure = Analysis::Measure.of(load)
          runs = counted(configuration, load, other_configuration, other_load)
          return if runs.any?(&:empty?)

          samples = runs.map { |each| each.map { |run| measure.value(run) } }
          units = runs.map { |each| Load::Statistics.mean(each.map { |run| measure.unit_of(run) }) }
          shift = Shift.new(*samples, Statistics.rounding(*units))
          medians = samples.map { |sample| Statistics.median(sample) }
          [Change.new(configuration: configuration, load: load, measure: measure, one: medians[0], other: medians[1],
                      ratio: shift.ratio), shift]
        end

        # The runs of a pair whose figures count, of each lab.
        def counted(configuration, load, other_configuration, other_load)
          measure = Analysis::Measure.of(load)
          [runs(one, configuration, load, measure), runs(other, other_configuration, other_load, measure)]
        end

        def runs(results, configuration, load, measure)
          results.runs(configuration: configuration, load: load)
                 .select { |run| run.valid? && measure.value(run)&.positive? }
        end

        def correct(changes)
          tested = changes.select { |_, shift| shift.p }
          ps = tested.map { |_, shift| shift.p }
          levels = Statistics::Holm.levels(ps, Change::LEVEL)
          tested.zip(Statistics::Holm.adjust(ps), levels) do |(change, shift), p, level|
            change.p = p
            change.detectable = [shift.detectable(level), Judgement::LEAST].max
          end
          changes.map { |change, _| change.freeze }
        end

        def described(results)
          app = Common.app(results).transform_keys { |key| "app #{key}" }
          method = { "duration" => results.duration, "warmup" => results.warmup }
          app.merge(results.environment.to_h.except(*Machine::MEASURED), method, rubies(results), versions(results))
        end

        # With --ruby, servers don't run under the lab's own Ruby, which is in the environment.
        def rubies(results)
          shared = results.configurations.select { |each| common.names.include?(each.name) }
          { "Ruby of the servers" => shared.filter_map(&:ruby).uniq.join(", ") }
        end

        # Of the servers of configurations that both labs have.
        def versions(results)
          named = results.configurations.to_h { |each| [each.name, each.version] }
          named.slice(*common.names).transform_keys { |name| "version of #{name}" }
        end
      end
    end
  end
end
