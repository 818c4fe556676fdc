# frozen_string_literal: true

module Cuttle
  module Tuner
    # How far a prediction may be off: 90% intervals. It begins with what the model was found to miss by (SPREAD, see
    # docs/tuning.md), and learns from the corrections of a profile: each is one more observation of the same error.
    class Margin
      CONFIDENCE = 0.9
      # Standard deviations of log(measured / predicted), for a profile that nothing was corrected in.
      SPREAD = { capacity: 0.04, p50: 0.08, p95: 0.10, p99: 0.16, queue_p99: 0.4 }.freeze
      WORTH = 6 # corrections that SPREAD counts for
      BEYOND = 2 # an extrapolation to other cores misses by so much more
      # The figure in a correction that tells of each.
      TOLD = { capacity: "rate" }.freeze

      def initialize(profile)
        @corrections = profile.corrections
        @spreads = {}
      end

      # An Estimate of the figure +name+ of +forecast+; nil if there is none.
      def around(name, forecast)
        value = forecast[name] or return
        return Lab::Statistics::Estimate.new(value, nil, nil, nil) unless value.finite? && value.positive?

        wider = forecast.beyond ? BEYOND : 1
        reach = Math.exp(Lab::Statistics::Student.critical(1 - CONFIDENCE, WORTH) * spread(name) * wider)
        Lab::Statistics::Estimate.new(value, value / reach, value * reach, nil)
      end

      # The standard deviation of the logarithm.
      def spread(name)
        @spreads[name] ||= begin
          errors = errors(name)
          middle = errors.empty? ? 0 : Load::Statistics.mean(errors)
          squares = errors.sum { |error| (error - middle)**2 }
          Math.sqrt(((WORTH * (SPREAD.fetch(name)**2)) + squares) / (WORTH + [errors.length - 1, 0].max))
        end
      end

      private

      # The capacity is compared in closed loops, response times in open ones.
      def errors(name)
        key = TOLD.fetch(name, name.to_s)
        @corrections.filter_map do |each|
          next unless each["demand"]["rate"].nil? == (name == :capacity)

          forecast, measured = each.values_at("forecast", "measured").map { |figures| figures[key] }
          Math.log(measured.fdiv(forecast)) if forecast&.positive? && measured&.positive?
        end
      end
    end
  end
end
