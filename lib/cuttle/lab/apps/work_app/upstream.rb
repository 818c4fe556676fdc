# frozen_string_literal: true

require "net/http"

module Cuttle
  module Lab
    class WorkApp
      # Calls a slow service with Net::HTTP, on a new connection each time.
      module Upstream
        PATIENCE = 60 # seconds in addition to the requested delay

        module_function

        # GETs the URL and returns the body. Adds delay_ms unless the URL has a query of its own. Raises Unavailable.
        def get(uri, seconds)
          http = Net::HTTP.new(uri.hostname, uri.port, nil) # no proxy, even if the environment has one
          http.open_timeout = nil
          http.read_timeout = seconds + PATIENCE
          http.max_retries = 0
          response = http.start { http.request(Net::HTTP::Get.new(target(uri, seconds))) }
          return response.body if response.is_a?(Net::HTTPSuccess)

          raise Unavailable.new(502, "upstream: it answered #{response.code}")
        rescue SystemCallError, IOError, SocketError, Timeout::Error, Net::ProtocolError, Net::HTTPBadResponse => error
          raise Unavailable.new(502, "upstream: #{error.message}")
        end

        def target(uri, seconds)
          uri.query ? uri.request_uri : "#{uri.request_uri}?delay_ms=#{(seconds * 1000).round(3)}"
        end
      end
    end
  end
end
