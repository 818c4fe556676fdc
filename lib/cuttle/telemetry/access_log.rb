# frozen_string_literal: true

require "securerandom"

module Cuttle
  module Telemetry
    # One line for each request, once it is over, or for a share of them (sample) and for all that failed with 5xx. Any
    # thread may call it.
    class AccessLog
      # Writes to +io+, and does not close it. +format+: see LogFormat. +sample+: share of the requests, 0 to 1. +ids+:
      # whether a request without X-Request-Id gets one.
      def initialize(io, format: "common", sample: 1, ids: false)
        @output = Output.new(io)
        @format = LogFormat.new(format)
        @sample = sample
        @ids = ids
      end

      # The data that #record needs from the request. +env+ is the request's env before the app gets it.
      def request(env)
        env["HTTP_X_REQUEST_ID"] ||= SecureRandom.uuid if @ids
        @format.request(env)
      end

      # Writes the line of an exchange that is over. Everything comes from the exchange's own record, except the user,
      # which the app sets in +env+. Never raises.
      def record(request, env, exchange)
        return unless @sample == 1 || exchange.status.to_i >= 500 || Random.rand < @sample

        @output.write(@format.line(request, env, exchange))
      end
    end
  end
end
