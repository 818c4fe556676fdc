# frozen_string_literal: true

require "socket"

module Cuttle
  module Lab
    module Servers
      # TCP ports of 127.0.0.1 for servers that have not started yet. Each process owns a block of ports until it ends.
      # So several labs or tests that start servers at the same time never choose the same port.
      module Ports
        # These are below the ports that systems choose for a socket without a port: 32,768 to 60,999 on Linux.
        ALL = 16_384..32_000
        BLOCK = 61

        @lock = Mutex.new

        class << self
          # A port that no process uses at the moment. It is not returned again soon. Raises Failure if there is none.
          def free
            @lock.synchronize do
              reserve unless @owner == Process.pid
              @block.size.times do
                port = @block.rotate!.last
                return port if bindable?(port)
              end
              raise Failure, "no TCP port from #{@block.min} to #{@block.max} is free"
            end
          end

          private

          # A process owns a block while it is bound, without listening, to the block's first port.
          def reserve
            @sign&.close # belongs to the parent after a fork
            first = ALL.step(BLOCK).to_a[..-2].shuffle(random: Random.new).find { |port| @sign = sign(port) }
            raise Failure, "no TCP port of 127.0.0.1 from #{ALL.min} to #{ALL.max} is free" unless first

            @block = [*(first + 1)...(first + BLOCK)]
            @owner = Process.pid
          end

          # A socket that is bound to +port+; nil if the port is in use.
          def sign(port)
            socket = Socket.new(:INET, :STREAM)
            socket.bind(Addrinfo.tcp("127.0.0.1", port))
            socket
          rescue Errno::EADDRINUSE
            socket.close
            nil
          end

          def bindable?(port)
            TCPServer.open("127.0.0.1", port).close
            true
          rescue Errno::EADDRINUSE
            false
          end
        end
      end
    end
  end
end
