# frozen_string_literal: true

require "io/wait"
require "socket"

module Cuttle
  module Tuner
    class Profiler
      # Sends requests one after the other over one keep-alive connection, and reads each response to its end. If the
      # server closes the connection, the client opens another for the next request.
      class Client
        CHUNK = 65_536
        BODILESS = [204, 304].freeze
        LAST_CHUNK = /\A0+(?:;[^\r]*)?\z/

        Response = Struct.new(:status, :head) do
          # The value of the first field with that name, or nil.
          def field(name)
            head[/^#{name}:[ \t]*([^\r]*)/i, 1]
          end

          # Seconds by phase, from the server's own Server-Timing field. The app may send another one.
          def timing
            fields = head.scan(/^server-timing:[ \t]*([^\r]*)/i).flatten
            times = fields.grep(/\bqueue;dur=.*\bapp;/).first.to_s.scan(/(\w+);dur=([\d.]+)/)
            times.to_h { |name, milliseconds| [name.to_sym, milliseconds.to_f / 1000] }
          end
        end

        # timeout: the seconds that a read may take.
        def initialize(port, timeout: 10)
          @port = port
          @host = "127.0.0.1:#{port}"
          @timeout = timeout
          @octets = {}.compare_by_identity
        end

        # The Response to a Load::Request. Raises Lab::Failure if none comes.
        def call(request)
          fresh = @socket.nil?
          @socket ||= connect
          @socket.write(@octets[request] ||= request.octets(@host))
          read(request)
        rescue EOFError, Errno::EPIPE, Errno::ECONNRESET => error
          close
          retry unless fresh # a server may close a keep-alive connection at any time
          raise Lab::Failure, "#{request.method} #{request.path}: no answer (#{error.message})"
        end

        def close
          @socket&.close
          @socket = nil
        end

        private

        def connect
          @buffer = String.new(encoding: Encoding::BINARY)
          socket = Socket.tcp("127.0.0.1", @port, connect_timeout: @timeout)
          socket.setsockopt(:TCP, :NODELAY, 1)
          socket
        rescue SystemCallError => error
          raise Lab::Failure, "the server can't be reached: #{Load.reason(error)}"
        end

        def read(request)
          head = take_head
          status = head[%r{\AHTTP/1\.[01] (\d{3})}, 1].to_i
          return read(request) if status.between?(100, 199) && status != 101

          response = Response.new(status, head)
          skip_body(response) unless request.head? || BODILESS.include?(status)
          close if response.field("connection")&.match?(/\bclose\b/i)
          response
        end

        def take_head
          fill until (length = @buffer.index("\r\n\r\n"))
          @buffer.slice!(0, length + 4)
        end

        def skip_body(response)
          if response.field("transfer-encoding")&.match?(/\bchunked\b/i) then skip_chunks
          elsif (length = response.field("content-length")) then skip(length.to_i)
          else skip_to_the_end
          end
        end

        def skip_chunks
          until (size = line).match?(LAST_CHUNK)
            skip(size.to_i(16) + 2)
          end
          nil until line.empty? # trailers
        end

        def line
          fill until (length = @buffer.index("\r\n"))
          @buffer.slice!(0, length + 2).chomp("\r\n")
        end

        def skip(length)
          while length > @buffer.bytesize
            length -= @buffer.bytesize
            @buffer.clear
            fill
          end
          @buffer.slice!(0, length)
        end

        def skip_to_the_end
          loop { fill }
        rescue EOFError
          close
        end

        def fill
          @socket.wait_readable(@timeout) or raise Lab::Failure, "no answer within #{@timeout} s"
          @buffer << @socket.readpartial(CHUNK).b
        end
      end
    end
  end
end
