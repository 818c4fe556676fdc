# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Compares two labs: everything that both measured, matched by name.
      #
      # Rule: one value is one start of a server. Rounds of different labs have nothing in common, so runs are compared
      # without pairing: Student's t on logarithms, with Holm's correction for all comparisons. As within a lab, less
      # than Judgement::LEAST is no difference. The ratios include everything that changed between the labs (the
      # machine, its neighbours). #differences lists the known changes.
      class Changes
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

        attr_reader :one, :other

        # Takes two Results.
        def initialize(one, other)
          @one = one
          @other = other
        end

        # A Change for each configuration and load whose figures count in both labs, in the order of the first.
        def to_a
          @changes ||= correct(pairs.reject { |pair| faults(*pair).any? }.filter_map { |pair| change(*pair) })
        end

        # The configurations and loads whose figures don't count in a lab: [[configuration, load, 0 or 1], …].
        def faulty
          pairs.flat_map { |pair| faults(*pair).map { |lab| [*pair.first(2), lab] } }
        end

        # Names of configurations that only one lab has: [of the first, of the second].
        def unmatched
          names = [one, other].map { |results| results.configurations.map(&:name) }
          [names[0] - names[1], names[1] - names[0]]
        end

        # The differences in the app, the method and the environment: { name => [in one, in the other] }.
        def differences
          said = [one, other].map { |results| described(results) }
          keys = said.flat_map(&:keys).uniq.reject { |key| said[0][key] == said[1][key] }
          keys.to_h { |key| [key, said.map { |each| each[key] }] }
        end

        private

        # [configuration, load, and their counterparts in the other lab]
        def pairs
          one.loads.product(one.configurations.reject(&:control_of)).filter_map do |load, configuration|
            counterparts = [find(other.configurations, configuration), find(other.loads, load)]
            [configuration, load, *counterparts] if counterparts.all?
          end
        end

        # The labs (0, 1) in which that pair has errors or is overloaded.
        def faults(configuration, load, other_configuration, other_load)
          @analyses ||= [one, other].map { |results| Analysis.new(results) }
          rows = [@analyses[0].row(configuration, load), @analyses[1].row(other_configuration, other_load)]
          rows.each_index.reject { |lab| rows[lab].nil? || !rows[lab].measured? || rows[lab].comparable? }
        end

        def find(things, thing)
          things.find { |each| each.name == thing.name }
        end

        # [Change, its Shift], before the correction.
        def change(configuration, load, other_configuration, other_load)
          measure = Analysis::Measure.of(load)
          runs = [runs(one, configuration, load, measure), runs(other, other_configuration, other_load, measure)]
          return if runs.any?(&:empty?)

          samples = runs.map { |each| each.map { |run| measure.value(run) } }
          units = runs.map { |each| Load::Statistics.mean(each.map { |run| measure.unit_of(run) }) }
          shift = Shift.new(*samples, Statistics.rounding(*units))
          medians = samples.map { |sample| Statistics.median(sample) }
          [Change.new(configuration: configuration, load: load, measure: measure, one: medians[0], other: medians[1],
                      ratio: shift.ratio), shift]
        end

        def runs(results, configuration, load, measure)
          results.runs(configuration: configuration, load: load)
                 .select { |run| run.valid? && measure.value(run)&.positive? }
        end

        def correct(changes)
          tested = changes.select { |_, shift| shift.p }
          ps = tested.map { |_, shift| shift.p }
          tested.zip(Statistics::Holm.adjust(ps), Statistics::Holm.levels(ps, Change::LEVEL)) do |(change, shift), p, level|
            change.p = p
            change.detectable = [shift.detectable(level), Judgement::LEAST].max
          end
          changes.map { |change, _| change.freeze }
        end

        def described(results)
          app = (results.app || {}).slice("name", "profile")
          method = { "duration" => results.duration, "warmup" => results.warmup }
          versions = results.configurations.to_h { |each| ["version of #{each.name}", each.version] }
          app.transform_keys { |key| "app #{key}" }.merge(results.environment || {}, method, versions.slice(*common))
        end

        # Versions of servers that both labs have. #unmatched lists the others.
        def common
          (one.configurations.map(&:name) & other.configurations.map(&:name)).map { |name| "version of #{name}" }
        end

        # The ratio of two samples of positive values.
        class Shift
          # rounding: as of Statistics::Paired.
          def initialize(one, other, rounding)
            @rounding = rounding
            @samples = [one, other].map { |values| values.map { |value| Math.log(value) } }
            @mean = Load::Statistics.mean(@samples[1]) - Load::Statistics.mean(@samples[0])
            @degrees = @samples.sum(&:length) - 2
          end

          # An Estimate; without an interval if a sample has a single value.
          def ratio
            reach = Statistics::Student.critical(1 - CONFIDENCE, @degrees) * error if tested?
            bounds = reach ? [Math.exp(@mean - reach), Math.exp(@mean + reach)] : [nil, nil]
            Statistics::Estimate.new(Math.exp(@mean), *bounds, @samples.sum(&:length))
          end

          # Not adjusted; nil if a sample has a single value.
          def p
            return unless tested?
            return 1.0 if error.zero?

            Statistics::Student.two_sided(@mean / error, @degrees)
          end

          # The smallest difference of the ratio from 1 that is detected at +level+. Both samples must have several
          # values.
          def detectable(level)
            Math.exp(Statistics::Power.noncentrality(@degrees, level, POWER) * error) - 1
          end

          private

          def tested?
            @samples.all? { |values| values.length > 1 }
          end

          # The standard error of the difference of the means, with pooled variance, and never below the rounding's.
          def error
            squares = @samples.sum { |values| (Load::Statistics.deviation(values)**2) * (values.length - 1) }
            [Math.sqrt(squares / @degrees * @samples.sum { |values| 1.0 / values.length }), @rounding].max
          end
        end
        private_constant :Shift
      end
    end
  end
end
