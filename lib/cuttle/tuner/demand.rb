# frozen_string_literal: true

module Cuttle
  module Tuner
    # How an app is loaded. Closed: each of a number of connections sends its next request when it has the last
    # response. Open: requests per second at random times (Poisson), independent of the server's responses. One of the
    # two is nil.
    Demand = Struct.new(:connections, :rate, keyword_init: true) do
      def self.closed(connections)
        new(connections: connections).freeze
      end

      def self.open(rate)
        new(rate: rate).freeze
      end

      def open?
        !rate.nil?
      end

      def name
        open? ? "#{rate.round(1)}/s" : "#{connections} connections"
      end
    end
  end
end
