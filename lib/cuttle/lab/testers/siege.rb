# frozen_string_literal: true

require "fileutils"
require "json"

module Cuttle
  module Lab
    module Testers
      # Siege: a thread for each connection. It prints the mean, shortest and longest time in hundredths of a second,
      # and no percentiles.
      class Siege < Tester
        PROGRAM = "siege"
        PACKAGE = "siege"
        MEGABYTE = 1024 * 1024
        PATIENCE = 1_000_000 # failures after which it gives up
        # Turns off siege's imitation of a browser.
        SETTINGS = { verbose: false, quiet: true, json_output: true, logging: false, "show-logfile": false,
                     color: "off", parser: false, cache: false, "accept-encoding": "identity", protocol: "HTTP/1.1",
                     delay: 0.0, failures: PATIENCE }.freeze

        class << self
          def read(text)
            said = JSON.parse(text[/\{[^{}]*\}/] || return)
            responses, right, failed = said.values_at("transactions", "successful_transactions", "failed_transactions")
            { rate: said["transaction_rate"], responses: responses, elapsed: said["elapsed_time"],
              octets: (said["data_transferred"] * MEGABYTE).round, **times(said),
              errors: { status_4xx: [responses - right, 0].max, failed: failed } } # a 5xx is no transaction
          rescue JSON::ParserError
            nil
          end

          private

          def times(said)
            return {} if said["transactions"].zero?

            { min: said["shortest_transaction"], mean: said["response_time"], max: said["longest_transaction"] }
          end
        end

        # See Tester#initialize.
        def initialize(*, **)
          super
          raise Failure, "siege needs a number of requests: with a duration it may end early, or never" unless @requests
        end

        private

        # Gives siege its own home, because it writes files there and reads the user's.
        def variables
          home = file("home")
          settings = SETTINGS.merge(connection: @keep_alive ? "keep-alive" : "close", limit: @connections,
                                    timeout: @timeout.ceil)
          FileUtils.mkdir_p("#{home}/.siege")
          File.write("#{home}/.siege/siege.conf", settings.map { |name, value| "#{name} = #{value}\n" }.join)
          { "HOME" => home }
        end

        # Every connection sends the same number of requests, rounded up.
        def command
          ["siege", "--benchmark", "--quiet", "--json-output", "-R", file("home/.siege/siege.conf"),
           "-c", @connections.to_s, "-r", @requests.fdiv(@connections).ceil.to_s, @url]
        end
      end
    end
  end
end
