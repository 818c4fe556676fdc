# frozen_string_literal: true

module Cuttle
  module Tuner
    # The 90% interval of a prediction. It starts from the errors that the model was found to have (SPREAD, see
    # docs/tuning.md). Each correction in a profile adds one observation of the same error.
    class Margin
      CONFIDENCE = 0.9
      # Standard deviations of log(measured / predicted), for a profile without corrections.
      SPREAD = { capacity: 0.04, p50: 0.08, p95: 0.10, p99: 0.16, queue_p99: 0.4 }.freeze
      WORTH = 6 # SPREAD counts as much as this many corrections
      BEYOND = 2 # an extrapolation to other cores has this many times the error
      # Figures whose errors a correction has under another name.
      TOLD = { capacity: "rate" }.freeze

      def initialize(profile)
        @corrections = profile.corrections
        @spreads = {}
      end

      # An Estimate for the figure +name+ of +forecast+; nil if the forecast does not have it.
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

      # Capacities are compared in closed loops, response times in open loops.
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
