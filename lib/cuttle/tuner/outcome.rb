# frozen_string_literal: true

module Cuttle
  module Tuner
    # How a setting performs under a demand: measured if it was verified, otherwise predicted. Frozen. Figures with an
    # interval are Lab::Statistics::Estimate: rates in responses per second, times in seconds. Memory is in octets.
    #
    #   measured   whether the setting was verified
    #   rounds     the number of rounds, if they were
    #   (the other members: see Forecast)
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

      # This outcome, with measured figures in place of predicted ones. measurement: a Measurement.
      def confirmed(measurement)
        found = measurement.to_h.slice(:capacity, :memory, :rounds).compact
        self.class.new(**to_h, **found, **times(measurement), measured: true)
      end

      # Whether that figure is measured. A verification may have too few connections for the capacity, and too few
      # responses for a percentile.
      def measured?(name)
        measured && !self[name].nil? && !self[name].count.nil?
      end

      # The same of the capacity.
      def capacity_measured?
        measured?(:capacity)
      end

      # Whether requests arrive faster than the setting can serve them, so that waiting times grow without end.
      def overloaded?
        demand.open? && capacity.value < demand.rate
      end

      # Too few responses have no measured p99, or no p95 either. The predicted figure then stays, so that a limit still
      # applies, unless the measured figures contradict it.
      def times(measurement)
        return {} unless measurement.p50

        p95 = measurement.p95 || predicted(:p95, measurement.p50)
        { p50: measurement.p50, p95: p95, p99: measurement.p99 || predicted(:p99, p95 || measurement.p50) }
      end
      private :times

      # The figure if it is longer than +least+.
      def predicted(name, least)
        estimate = self[name]
        estimate if estimate&.value&.finite? && estimate.value > least.value
      end
      private :predicted

      # This outcome at an end of its intervals. :best has the highest capacity and the shortest times, :worst the
      # reverse. An end that too few measurements can't give may be anywhere. So may times without end: they are as
      # certain as that the setting is overloaded (see judged).
      def at(which)
        ends = Outcome::ESTIMATES.to_h { |name| [name, bound(self[name], (name == :capacity) == (which == :best))] }
        ends[:p99] ||= Lab::Statistics::Estimate.new(Float::INFINITY) if which == :worst
        self.class.new(**to_h, **ends)
      end

      def bound(estimate, upper)
        return unless estimate

        value = upper ? estimate.high : estimate.low
        value ||= estimate.value unless estimate.count || estimate.value.infinite?
        Lab::Statistics::Estimate.new(value || (upper ? Float::INFINITY : 0.0), nil, nil, estimate.count)
      end
      private :bound

      # A Forecast with the figures that limits are held against. An unknown p99 is at least as long as p95, or else
      # p50. Where waiting times grow without end, measured ones only show how long the run was.
      def judged
        known = Outcome::ESTIMATES.to_h { |name| [name, self[name]&.value] }
        times = { p99: known[:p99] || known[:p95] || known[:p50] }
        times = { p99: Float::INFINITY, queue_p99: Float::INFINITY } if overloaded?
        Forecast.new(**to_h.slice(*Forecast.members), **known, **times)
      end

      # The broken limits, with the figure / the limit: { memory: 1.2 } is a fifth too much.
      def excess(limits)
        found = judged
        limits.broken(found).to_h do |name|
          value = name == :rate ? limits.rate / [capacity.value, 1e-9].max : found[name] / limits[name].to_f
          [name, value]
        end
      end
    end
    Outcome::ESTIMATES = %i[capacity p50 p95 p99 queue_p99].freeze
  end
end
