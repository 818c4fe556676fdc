# frozen_string_literal: true

require "socket"

module Cuttle
  module Lab
    module Servers
      # TCP ports of 127.0.0.1 for servers that are yet to start. Each process has a block of them for itself, as long
      # as it lives: several labs, or tests, that start servers at the same time never choose the same port.
      module Ports
        # Below what systems choose from for a socket without a port: 32,768 to 60,999 on Linux.
        ALL = 16_384..32_000
        BLOCK = 61

        @lock = Mutex.new

        class << self
          # A port that no process uses at the moment, and that is not given out again soon. Raises Failure if there is
          # none.
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

          # The process that is bound to the first port of a block, without listening, owns the rest of the block.
          def reserve
            @sign&.close # a parent's, after a fork
            first = ALL.step(BLOCK).to_a[..-2].shuffle(random: Random.new).find { |port| @sign = sign(port) }
            raise Failure, "no TCP port of 127.0.0.1 from #{ALL.min} to #{ALL.max} is free" unless first

            @block = [*(first + 1)...(first + BLOCK)]
            @owner = Process.pid
          end

          # A socket that is bound to +port+; nil if another socket is.
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
