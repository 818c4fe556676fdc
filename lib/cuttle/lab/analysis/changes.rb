# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Two labs side by side: what both measured, matched by names.
      #
      # The law: one value is one start of a server. Blocks of different labs have nothing to do with each other, so the
      # runs are compared without them: Student's t on logarithms, with Holm's correction for all of them. What changed
      # with the time between the labs (the machine, its neighbours) is in the ratios; differences says what is known.
      class Changes
        # ratio: an Estimate, other / one, of measure. p: adjusted, nil where a lab has one run only. detectable: the
        # smallest difference of the ratio from 1 that would have been found in 9 of 10 such pairs of labs, or nil.
        Change = Struct.new(:configuration, :load, :measure, :one, :other, :ratio, :p, :detectable, keyword_init: true) do
          def different?
            !p.nil? && p <= LEVEL
          end
        end

        LEVEL = 0.05
        CONFIDENCE = 0.95
        POWER = 0.9

        attr_reader :one, :other

        # Results each.
        def initialize(one, other)
          @one = one
          @other = other
        end

        # In the order of the first lab: of each configuration and load that both have valid runs of.
        def to_a
          @changes ||= correct(pairs.filter_map { |pair| change(*pair) })
        end

        # Names of configurations that only one of them has: [of the first, of the second].
        def unmatched
          names = [one, other].map { |results| results.configurations.map(&:name) }
          [names[0] - names[1], names[1] - names[0]]
        end

        # { what => [in one, in the other] }, of the app and the environment.
        def differences
          said = [one, other].map { |results| described(results) }
          keys = said.flat_map(&:keys).uniq.reject { |key| said[0][key] == said[1][key] }
          keys.to_h { |key| [key, said.map { |each| each[key] }] }
        end

        private

        # [configuration, load, those of the other lab]
        def pairs
          one.loads.product(one.configurations.reject(&:control_of)).filter_map do |load, configuration|
            counterparts = [find(other.configurations, configuration), find(other.loads, load)]
            [configuration, load, *counterparts] if counterparts.all?
          end
        end

        def find(things, thing)
          things.find { |each| each.name == thing.name }
        end

        def change(configuration, load, other_configuration, other_load)
          measure = Analysis::Measure.of(load)
          samples = [values(one, configuration, load, measure), values(other, other_configuration, other_load, measure)]
          return if samples.any?(&:empty?)

          medians = samples.map { |sample| Statistics.median(sample) }
          Change.new(configuration: configuration, load: load, measure: measure, one: medians[0], other: medians[1],
                     **Shift.new(*samples).to_h)
        end

        def values(results, configuration, load, measure)
          results.runs(configuration: configuration, load: load).select(&:valid?)
                 .filter_map { |run| measure.value(run) }.select(&:positive?)
        end

        def correct(changes)
          tested = changes.select(&:p)
          tested.zip(Statistics::Holm.adjust(tested.map(&:p))) { |change, p| change.p = p }
          changes.each(&:freeze)
        end

        def described(results)
          app = (results.app || {}).select { |key, _| %w[name profile].include?(key) }
          method = { "duration" => results.duration, "warmup" => results.warmup }
          versions = results.configurations.to_h { |each| ["version of #{each.name}", each.version] }
          app.transform_keys { |key| "app #{key}" }.merge(results.environment || {}, method, versions.slice(*common))
        end

        # What only one of them has, unmatched says.
        def common
          (one.configurations.map(&:name) & other.configurations.map(&:name)).map { |name| "version of #{name}" }
        end

        # From one sample of positive values to another one, as a ratio.
        class Shift
          def initialize(one, other)
            @samples = [one, other].map { |values| values.map { |value| Math.log(value) } }
            @mean = Load::Statistics.mean(@samples[1]) - Load::Statistics.mean(@samples[0])
            @degrees = @samples.sum(&:length) - 2
          end

          def to_h
            { ratio: ratio, p: p, detectable: detectable }
          end

          private

          def ratio
            reach = Statistics::Student.critical(1 - CONFIDENCE, @degrees) * error if tested?
            bounds = reach ? [Math.exp(@mean - reach), Math.exp(@mean + reach)] : [nil, nil]
            Statistics::Estimate.new(Math.exp(@mean), *bounds, @samples.sum(&:length))
          end

          def p
            return unless tested?
            return @mean.zero? ? 1.0 : 0.0 if error.zero?

            Statistics::Student.two_sided(@mean / error, @degrees)
          end

          def detectable
            return unless tested?

            Math.exp(Statistics::Power.noncentrality(@degrees, LEVEL, POWER) * error) - 1
          end

          def tested?
            @samples.all? { |values| values.length > 1 }
          end

          # Of the difference of the means, the variance taken from both.
          def error
            squares = @samples.sum { |values| (Load::Statistics.deviation(values)**2) * (values.length - 1) }
            Math.sqrt(squares / @degrees * @samples.sum { |values| 1.0 / values.length })
          end
        end
        private_constant :Shift
      end
    end
  end
end
