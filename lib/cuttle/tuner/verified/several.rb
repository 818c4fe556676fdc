# frozen_string_literal: true

module Cuttle
  module Tuner
    class Verified
      # The verifications of one tune as one: a Verified of each, in their order. All have the rate of the first. Where
      # two have the same setting, the later one counts.
      class Several
        def initialize(parts)
          @parts = parts
        end

        def measurements
          @measurements ||= @parts.map(&:measurements).inject(:merge)
        end

        def rate
          @parts.first.rate
        end

        def connections(setting)
          latest(setting).connections
        end

        # Settings that were measured in different verifications can't be compared.
        def compare(setting, base)
          latest(setting, base).compare(setting, base)
        end

        def failures
          @failures ||= @parts.map(&:failures).inject(:merge).except(*measurements.keys)
        end

        def troubles
          @parts.flat_map(&:troubles).uniq
        end

        def tried?(setting)
          @parts.any? { |each| each.tried?(setting) }
        end

        def corrections(model, cores:)
          @parts.flat_map { |each| each.corrections(model, cores: cores) }
        end

        private

        def latest(*settings)
          @parts.reverse.find { |each| settings.all? { |setting| each.measurements.key?(setting) } } || @parts.last
        end
      end
    end
  end
end
