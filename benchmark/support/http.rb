# frozen_string_literal: true

module Bench
  # Just enough of an HTTP client to see that a server is up and answers what it should.
  module Http
    class Failed < StandardError; end

    Response = Struct.new(:status, :head, :body) do
      # The octets as they came.
      def bytes
        head + body
      end
    end

    module_function

    # A port that nobody listens on at the moment.
    def free_port
      TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
    end

    # One GET on a connection of its own.
    def get(port, path, timeout: 10)
      Socket.tcp("127.0.0.1", port, connect_timeout: timeout) { |socket| exchange(socket, path, timeout: timeout) }
    rescue SystemCallError, EOFError => e
      raise Failed, e.message
    end

    # One GET on a connection that stays open.
    def exchange(socket, path, timeout: 10)
      socket.write("GET #{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      received = +""
      received << more(socket, timeout) until (head = received[/\A.*?\r\n\r\n/m])
      length = head[/^content-length:\s*(\d+)/i, 1].to_i
      received << more(socket, timeout) while received.bytesize < head.bytesize + length
      Response.new(head[%r{\AHTTP/1\.[01] (\d{3})}, 1].to_i, head, received.byteslice(head.bytesize, length))
    end

    def more(socket, timeout)
      socket.wait_readable(timeout) or raise Failed, "no answer within #{timeout} s"
      socket.readpartial(65_536).b
    end
  end
end
