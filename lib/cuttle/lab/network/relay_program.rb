# frozen_string_literal: true

# The process of Network::Relay: `ruby relay_program.rb PORT DELAY BANDWIDTH` (seconds; octets per second, 0 for
# unlimited). It prints the port that it listens on, and exits at the end of its standard input.

require "socket"
require_relative "event_loop"
require_relative "flow"

module Cuttle
  module Lab
    module Network
      class Relay
        # A client's connection and its connection to the server, with a flow in each direction.
        class Conversation
          WATCH = 0.05 # seconds between checks whether a side that has finished is gone
          WATCHABLE = Socket.const_defined?(:TCP_INFO) && RUBY_PLATFORM.include?("linux")
          SEGMENT = 1448 # octets of data in an Ethernet packet

          # buffer: octets that the kernel may take from the server before the relay reads them, or nil.
          def initialize(events, client, port, line, buffer)
            @events = events
            @client = client
            @port = port
            @line = line # a proc that makes a Line
            @buffer = buffer
            # The client's data waits in the kernel's buffer until the simulated handshake is complete.
            events.at(EventLoop.now + 2 * line.call.delay) { dial }
          end

          private

          def dial
            @server = Socket.new(:INET, :STREAM)
            like_a_network
            @server.connect_nonblock(Socket.sockaddr_in(@port, "127.0.0.1"), exception: false)
            @events.on_write(@server) { dialled }
          rescue SystemCallError
            reset
          end

          # On one machine, segments have 64 KiB and buffers hold megabytes of them. So without this, a server would not
          # notice a slow client.
          def like_a_network
            @server.setsockopt(:TCP, :NODELAY, true)
            @server.setsockopt(:TCP, :MAXSEG, SEGMENT)
            @server.setsockopt(:SOCKET, :RCVBUF, @buffer) if @buffer
          end

          def dialled
            @events.on_write(@server)
            return reset unless @server.getsockopt(:SOCKET, :ERROR).int.zero?

            @there = Flow.new(@events, @client, @server, @line.call) { |what| report(what, @back) }
            @back = Flow.new(@events, @server, @client, @line.call) { |what| report(what, @there) }
          end

          # +other+: the opposite flow.
          def report(what, other)
            case what
            when :ended then watch if WATCHABLE && !other.ended?
            when :done then close if other.done?
            when :reset then reset
            when :broken then other.expect_reset
            end
          end

          # Watches while only one side has finished.
          def watch
            @events.at(EventLoop.now + WATCH) do
              unless @client.closed?
                [[@there, @back], [@back, @there]].each do |flow, other|
                  flow.lose_source if flow.ended? && !other.done? && flow.source_gone?
                end
                watch
              end
            end
          end

          def reset
            [@client, @server].compact.each do |socket|
              socket.setsockopt(Socket::Option.linger(true, 0)) unless socket.closed?
            end
            close
          end

          def close
            [@client, @server].compact.each do |socket|
              @events.forget(socket)
              socket.close
            end
          end
        end

        # Accepts connections until standard input ends.
        def self.serve(port, delay, bandwidth)
          EventLoop.raise_limit
          events = EventLoop.new
          listener = TCPServer.new("127.0.0.1", 0)
          buffer = Line::BUFFER * 2 if bandwidth # otherwise the kernel's buffer would hide the line
          listener.setsockopt(:SOCKET, :RCVBUF, buffer) if buffer
          listener.listen(1024)
          line = -> { Line.new(delay, bandwidth) }
          events.on_read(listener) do
            accept(listener) { |client| Conversation.new(events, client, port, line, buffer) }
          end
          events.on_read($stdin) { events.stop }
          $stdout.puts "ready #{listener.addr[1]}"
          $stdout.flush
          events.run
        end

        def self.accept(listener)
          while (client = listener.accept_nonblock(exception: false)) != :wait_readable
            client.setsockopt(:TCP, :NODELAY, true)
            yield client
          end
        rescue SystemCallError
          nil # gone before it was accepted
        end
      end
    end
  end
end

port, delay, bandwidth = ARGV
Cuttle::Lab::Network::Relay.serve(Integer(port), Float(delay), bandwidth.to_f.positive? ? bandwidth.to_f.ceil : nil)
