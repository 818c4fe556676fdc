# frozen_string_literal: true

module Cuttle
  module Lab
    class Server
      # Just enough of an HTTP client to see that a server is up, and whether it lets connections persist.
      module Probe
        PATIENCE = 10 # seconds

        Silent = Class.new(StandardError)

        module_function

        # Whether GET / is answered, with no server's error.
        def answer?(port)
          connect(port) { |socket| exchange(socket) < 500 }
        rescue SystemCallError, EOFError, Silent
          false
        end

        # How many of two requests are answered on one connection.
        def answers_on_one_connection(port)
          answers = 0
          connect(port) { |socket| 2.times { exchange(socket) && answers += 1 } }
          answers
        rescue SystemCallError, EOFError, Silent
          answers
        end

        def connect(port, &block)
          Socket.tcp("127.0.0.1", port, connect_timeout: PATIENCE, &block)
        end

        # Status of one GET, read to its end.
        def exchange(socket)
          socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
          received = +""
          received << more(socket) until (head = received[/\A.*?\r\n\r\n/m])
          read_body(socket, head, received.byteslice(head.bytesize..))
          head[%r{\AHTTP/1\.[01] (\d{3})}, 1].to_i
        end

        def read_body(socket, head, body)
          if (length = head[/^content-length:\s*(\d+)/i, 1])
            body << more(socket) while body.bytesize < length.to_i
          elsif head.match?(/^transfer-encoding:\s*chunked/i)
            body << more(socket) until body.end_with?("0\r\n\r\n")
          end
        end

        def more(socket)
          socket.wait_readable(PATIENCE) or raise Silent
          socket.readpartial(65_536).b
        end
      end
    end
  end
end
