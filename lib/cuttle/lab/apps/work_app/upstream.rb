# frozen_string_literal: true

require "net/http"

module Cuttle
  module Lab
    class WorkApp
      # A call to a slow service, on a connection of its own, as Net::HTTP makes it.
      module Upstream
        PATIENCE = 60 # seconds beside those that the service was asked to take

        module_function

        # GETs the URL, which is told how long to take (delay_ms) unless it has a query of its own; returns the body.
        # Raises Unavailable.
        def get(uri, seconds)
          http = Net::HTTP.new(uri.hostname, uri.port, nil) # no proxy, whatever the environment says
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
