# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      # A slow network between load and server: a TCP relay on a port of 127.0.0.1, in its own process. Each connection
      # has its own line in each direction, with +delay+ seconds and +bandwidth+ octets per second. Opening a connection
      # takes a round trip. The relay passes on an end as an end and a reset as a reset, after the octets before it.
      # When the relay stops, it cuts open connections.
      class Relay < Apps::Services::Daemon
        PROGRAM = "#{__dir__}/relay_program.rb"

        # delay: seconds each way. bandwidth: octets a second each way, nil for unlimited. Raises Lab::Failure.
        def self.start(port, delay: 0, bandwidth: nil, cores: nil)
          raise UsageError, "relay: a delay is 0 or more seconds, not #{delay}" if delay.negative?
          unless bandwidth.nil? || bandwidth.positive?
            raise UsageError, "relay: a bandwidth is above 0 octets a second, not #{bandwidth}"
          end

          new(Apps::Services::Child.start(PROGRAM, port, delay, bandwidth || 0, cores: cores))
        end

        # CPU seconds that the relay used so far.
        def cpu_seconds
          Servers::ProcessTree.cpu_seconds(pid)
        end

        def running?
          @child.running?
        end
      end

      # The routes from the loads to one server. Most loads connect directly. Loads with a slow network go through a
      # relay. Each pair of delay and bandwidth has its relay.
      #
      # Rule: relays start before the server and end after it, because any process that starts after the server counts
      # as part of it (see Servers::ProcessTree).
      class Routes
        # delay: seconds each way. bandwidth: octets a second each way, nil for unlimited.
        Conditions = Struct.new(:delay, :bandwidth) do
          def slow?
            delay.positive? || !bandwidth.nil?
          end
        end

        # The way from one load to the server.
        Route = Struct.new(:url, :relay) do
          # CPU seconds that the relay used so far, on the load's cores.
          def cpu_seconds
            relay ? relay.cpu_seconds : 0.0
          end
        end

        # Yields the Routes from +loads+ to a server on +port+. Options supply what a load does not specify. Raises
        # Failure.
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

        # The Route for a load of these.
        def to(load)
          relay = @relays[conditions(load)]
          Route.new("http://127.0.0.1:#{relay ? relay.port : @port}#{@options.path}", relay)
        end

        def prepare(load)
          conditions = conditions(load)
          return unless conditions.slow?

          @relays[conditions] ||= Relay.start(@port, **conditions.to_h, cores: @cores)
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
