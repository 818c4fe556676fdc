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
    end
  end
end
