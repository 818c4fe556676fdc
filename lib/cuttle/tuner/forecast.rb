# frozen_string_literal: true

module Cuttle
  module Tuner
    # A Model's prediction for a Setting under a Demand. Rates are requests per second, times seconds, sizes octets.
    #
    #   setting, demand
    #   rate            responses per second; in an open loop at most the demand's rate
    #   p50, p95, p99   response times; Infinity where an open loop's rate is above the capacity
    #   queue_p99       how long requests wait for a slot, 99th percentile
    #   capacity        the highest rate that the setting can serve, with any number of connections
    #   cpu             cores that the server uses, as a number: 1.7
    #   memory          PSS of all processes, or nil if it isn't known
    #   connections     database connections that it may come to hold; or nil if the app has none
    #   limit           what limits the capacity: :cores, :gvl, :slots, :connections (the database's) or :demand
    #   beyond          true if the machine has fewer cores than the forecast assumes: it is an extrapolation
    #   stand_in        for -t auto, the Setting whose number of threads the model used in its place, otherwise nil
    Forecast = Struct.new(:setting, :demand, :rate, :p50, :p95, :p99, :queue_p99, :capacity, :cpu, :memory,
                          :connections, :limit, :beyond, :stand_in, keyword_init: true) do
      def initialize(**)
        super
        freeze
      end
    end
  end
end
