# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      # What lies between the loads and a server: for most nothing; for those that ask for a slow network a relay, one for
      # each delay and bandwidth.
      #
      # The law: relays are there before the server is started, and end after it: what is started after it counts as the
      # server's (see ProcessTree).
      class Routes
        # delay: seconds each way; bandwidth: octets a second each way, nil for any.
        Conditions = Struct.new(:delay, :bandwidth) do
          def slow?
            delay.positive? || !bandwidth.nil?
          end
        end

        # How a load reaches the server.
        Route = Struct.new(:url, :relay) do
          # That the network took so far; it takes them from the load's cores.
          def cpu_seconds
            relay ? relay.cpu_seconds : 0.0
          end
        end

        # Yields those that +loads+ need before a server on +port+. What a load doesn't say, options do. Raises Failure.
        def self.open(port, loads, options, cores:)
          routes = new(port, options, cores)
          loads.each { |load| routes.prepare(load) }
          yield routes
        ensure
          routes&.close
        end

        def initialize(port, options, cores)
          @port = port
          @options = options
          @cores = cores
          @relays = {}
        end

        # Of a load that is prepared.
        def to(load)
          relay = @relays[conditions(load)]
          Route.new("http://127.0.0.1:#{relay ? relay.port : @port}#{@options.path}", relay)
        end

        def prepare(load)
          conditions = conditions(load)
          return unless conditions.slow?

          @relays[conditions] ||= Relay.start(@port, delay: conditions.delay, bandwidth: conditions.bandwidth, cores: @cores)
        end

        def close
          @relays.each_value(&:stop)
        end

        private

        def conditions(load)
          Conditions.new(load.delay || @options.delay, load.bandwidth || @options.bandwidth)
        end
      end
    end
  end
end
