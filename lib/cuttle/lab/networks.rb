# frozen_string_literal: true

module Cuttle
  module Lab
    # What lies between the loads and a server: for most nothing; for those that ask for a slow network a relay, one for
    # each delay and bandwidth.
    #
    # The law: relays are there before the server is started, and end after it: what is started after it counts as the
    # server's (see ProcessTree).
    class Networks
      # delay: seconds each way; bandwidth: octets a second each way, nil for any.
      Network = Struct.new(:delay, :bandwidth) do
        def slow?
          delay.positive? || !bandwidth.nil?
        end
      end

      # How a load reaches the server.
      Way = Struct.new(:url, :relay) do
        # That the network took so far; it takes them from the load's cores.
        def cpu_seconds
          relay ? relay.cpu_seconds : 0.0
        end
      end

      # Yields those that +loads+ need before a server on +port+. What a load doesn't say, options do. Raises Failure.
      def self.open(port, loads, options, cores:)
        networks = new(port, options, cores)
        loads.each { |load| networks.prepare(load) }
        yield networks
      ensure
        networks&.close
      end

      def initialize(port, options, cores)
        @port = port
        @options = options
        @cores = cores
        @relays = {}
      end

      # Of a load that is prepared.
      def way(load)
        relay = @relays[network(load)]
        Way.new("http://127.0.0.1:#{relay ? relay.port : @port}#{@options.path}", relay)
      end

      def prepare(load)
        network = network(load)
        return unless network.slow?

        @relays[network] ||= Relay.start(@port, delay: network.delay, bandwidth: network.bandwidth, cores: @cores)
      end

      def close
        @relays.each_value(&:stop)
      end

      private

      def network(load)
        Network.new(load.delay || @options.delay, load.bandwidth || @options.bandwidth)
      end
    end
  end
end
