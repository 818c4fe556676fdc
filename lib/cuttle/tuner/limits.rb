# frozen_string_literal: true

module Cuttle
  module Tuner
    # The limits that a setting must keep. nil: no limit. Frozen.
    #
    #   cores        CPU cores that the server may use
    #   memory       octets, PSS of all processes together
    #   connections  database connections, of all processes together
    #   rate         requests per second that the setting must serve (the target)
    #   p99          response time in seconds at the demand's rate: the target rate, or the rate that a Search chooses
    #   queue_p99    seconds that requests wait for a slot at that rate
    Limits = Struct.new(:cores, :memory, :connections, :rate, :p99, :queue_p99, keyword_init: true) do
      def initialize(**)
        super
        each_pair do |name, value|
          next if value.nil? || value.positive?

          raise UsageError, "#{Limits::OPTIONS.fetch(name)}: above 0, not #{value.inspect}"
        end
        raise UsageError, "--cores: at most #{Limits::CORES}, not #{cores}" if cores.to_i > Limits::CORES

        freeze
      end

      # The capacity that the target rate needs, with headroom: more counts for nothing. nil: there is no target rate.
      def enough
        rate && (rate / Ranking::ROOM)
      end

      # The names of the limits that a Forecast breaks; [] if it keeps all of them. An unknown figure breaks no limit.
      def broken(forecast)
        times = forecast.demand.open? ? { p99: forecast.p99, queue_p99: forecast.queue_p99 } : {}
        broken = { memory: forecast.memory, connections: forecast.connections, **times }
                 .select { |name, value| value && self[name] && value > self[name] }.keys
        broken << :rate if rate && forecast.capacity < rate
        broken
      end
    end

    # The options of `cuttle tune` and `cuttle advise` that set them.
    Limits::OPTIONS = { cores: "--cores", memory: "--memory", connections: "--db-connections", rate: "--rate",
                        p99: "--p99", queue_p99: "--queue-p99" }.freeze

    # The most cores: a grid has a setting with a worker for each.
    Limits::CORES = Setting::WORKERS.max
  end
end
