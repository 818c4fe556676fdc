# frozen_string_literal: true

module Cuttle
  module Rack
    # Middleware of a loaded app that does harm under the engine that runs it.
    module GemChecks
      # If requests are fibers, Thread#raise hits the loop that serves all of them.
      TIMEOUT = "rack-timeout raises an exception in the thread of a request. Under this engine that thread serves " \
                "all requests, so the exception ends the process: use --app-timeout, or Timeout.timeout in the app"

      # One line for each such gem, for an engine with +traits+. Empty if no such gem is known.
      def self.lines(traits)
        traits.fibers? && defined?(::Rack::Timeout::RequestTimeoutException) ? [TIMEOUT] : []
      end
    end
  end
end
