# frozen_string_literal: true

module Cuttle
  module Tuner
    # What a setting does under a demand: as it was measured where it was, otherwise as it is predicted. Frozen. Figures
    # with an interval are Lab::Statistics::Estimate: rates in responses per second, times in seconds. Memory is octets.
    #
    #   measured   whether capacity and response times were measured
    #   rounds     in how many rounds, if they were
    #   (the others: see Forecast)
    Outcome = Struct.new(:setting, :demand, :capacity, :p50, :p95, :p99, :queue_p99, :cpu, :memory, :connections,
                         :limit, :beyond, :stand_in, :measured, :rounds, keyword_init: true) do
      def self.predicted(forecast, margin)
        estimates = Outcome::ESTIMATES.to_h { |name| [name, margin.around(name, forecast)] }
        new(**forecast.to_h.slice(*members), **estimates, measured: false)
      end

      def initialize(**)
        super
        freeze
      end

      # This outcome with what was measured in place of what was predicted. measurement: a Measurement.
      def confirmed(measurement)
        found = measurement.to_h.slice(:capacity, :memory, :rounds).compact
        self.class.new(**to_h, **found, **times(measurement), measured: true)
      end

      # Whether requests come faster than it can serve them, so that they wait longer and longer.
      def overloaded?
        demand.open? && capacity.value < demand.rate
      end

      # Too few responses have no p99. Then the prediction stands, so that a limit of p99 is not passed for want of it,
      # unless what was measured contradicts it.
      def times(measurement)
        return {} unless measurement.p50

        predicted = p99 if p99&.value&.finite? && p99.value > measurement.p95&.value.to_f
        { p50: measurement.p50, p95: measurement.p95, p99: measurement.p99 || predicted }
      end
      private :times

      # A Forecast with the values of the figures, without their intervals.
      def figures
        Forecast.new(**to_h.slice(*Forecast.members), **Outcome::ESTIMATES.to_h { |name| [name, self[name]&.value] },
                     rate: demand.open? ? [demand.rate, capacity.value].min : capacity.value)
      end

      # The limits that are broken, and how far: { memory: 1.2 } for a fifth too much.
      def excess(limits)
        limits.broken(figures).to_h do |name|
          value = name == :rate ? limits.rate / [capacity.value, 1e-9].max : figures[name] / limits[name].to_f
          [name, value]
        end
      end
    end
    Outcome::ESTIMATES = %i[capacity p50 p95 p99 queue_p99].freeze
  end
end
