# frozen_string_literal: true

module Cuttle
  module Tuner
    # What a setting must keep. Each is nil where it doesn't matter. Frozen.
    #
    #   cores        that the server may use
    #   memory       octets, PSS of all processes together
    #   connections  to the database, of all processes together
    #   rate         requests per second that come (the target)
    #   p99          seconds, response time at the rate of the demand: the target, or what a Search takes without one
    #   queue_p99    seconds, waiting for a slot at that rate
    Limits = Struct.new(:cores, :memory, :connections, :rate, :p99, :queue_p99, keyword_init: true) do
      def initialize(**)
        super
        each_pair do |name, value|
          raise UsageError, "#{name}: a number above 0, not #{value.inspect}" unless value.nil? || value.positive?
        end
        freeze
      end

      # The names of the limits that a Forecast breaks: [] if it keeps them all. A figure that isn't known keeps its
      # limit.
      def broken(forecast)
        times = forecast.demand.open? ? { p99: forecast.p99, queue_p99: forecast.queue_p99 } : {}
        broken = { memory: forecast.memory, connections: forecast.connections, **times }
                 .select { |name, value| value && self[name] && value > self[name] }.keys
        broken << :rate if rate && forecast.capacity < rate
        broken
      end
    end
  end
end
