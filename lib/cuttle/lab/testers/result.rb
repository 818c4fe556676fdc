# frozen_string_literal: true

module Cuttle
  module Lab
    module Testers
      # What a tester said of a run, under the names that Load::Result has for it. What it doesn't tell is nil.
      class Result
        # Nanoseconds.
        Latency = Struct.new(:min, :mean, :max)

        # Of a run that came to no report.
        NOTHING = { rate: 0.0, responses: 0, elapsed: 0.0, errors: {} }.freeze

        attr_reader :rate, :responses, :octets, :elapsed, :errors, :latency, :client_cpu

        # said: rate, responses, octets, elapsed, errors ({ class of docs/load.md => count }), min, mean, max, and
        # percentiles ({ 99 => seconds }); times in seconds. client_cpu: of its busiest thread, 0 to 1.
        def initialize(said, client_cpu:, interrupted: false)
          @rate, @responses, @octets, @elapsed, @errors = said.values_at(:rate, :responses, :octets, :elapsed, :errors)
          @latency = Latency.new(*said.values_at(:min, :mean, :max).map { |each| nanoseconds(each) })
          @percentiles = said.fetch(:percentiles, {}).to_h { |each, time| [each.to_f, nanoseconds(time)] }
          @client_cpu = client_cpu
          @interrupted = interrupted
        end

        def interrupted?
          @interrupted
        end

        # Requests of which it tells how they ended.
        def sent
          responses + errors.sum { |name, count| name.start_with?("status_") ? 0 : count }
        end

        # Nanoseconds, or nil.
        def percentile(percentile)
          @percentiles[percentile.to_f]
        end

        # None of them keeps every time.
        def distribution
          nil
        end

        # Of seconds, and what is to be held against the figures: none of them says so much.
        def windows
          []
        end
        alias marks windows

        private

        def nanoseconds(seconds)
          seconds && (seconds * 1e9)
        end
      end
    end
  end
end
