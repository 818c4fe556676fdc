# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      # A slow network between load and server: a TCP relay on a port of 127.0.0.1, a process of its own. Each connection
      # has a line of its own each way, which takes +delay+ seconds and carries +bandwidth+ octets a second. Opening a
      # connection costs the round trip that it would; an end in one direction is passed on as that, a reset as a reset,
      # each after the octets that came before it. Connections that are open at its stop are cut.
      class Relay < Apps::Services::Daemon
        PROGRAM = "#{__dir__}/relay_program.rb"

        # delay: seconds each way; bandwidth: octets a second each way (nil: any). Raises Lab::Failure.
        def self.start(port, delay: 0, bandwidth: nil, cores: nil)
          raise UsageError, "relay: a delay is 0 or more seconds, not #{delay}" if delay.negative?
          unless bandwidth.nil? || bandwidth.positive?
            raise UsageError, "relay: a bandwidth is above 0 octets a second, not #{bandwidth}"
          end

          new(Apps::Services::Child.start(PROGRAM, port, delay, bandwidth || 0, cores: cores))
        end

        # Of CPU time that it took so far.
        def cpu_seconds
          Servers::ProcessTree.cpu_seconds(pid)
        end

        def running?
          @child.running?
        end
      end

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
