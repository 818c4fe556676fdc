# frozen_string_literal: true

require "test_helper"

# A client that sends a request and resets its connection immediately. When the request is read, the system no longer
# knows the client's address, and an app must not take the client for one on its own machine.
class TestResetPeers < Minitest::Test
  include Serving

  CLIENT = "127.0.0.2" # addresses of this machine, but not the one that apps trust
  OTHERS = "127.0.0.3"
  TIMES = 300
  GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  %w[native pure].product(%w[hybrid reactor fibers single threads]).each do |core, engine|
    define_method(:"test_it_is_no_client_of_this_machine_#{core}_#{engine}") do
      addresses = Queue.new
      app = lambda do |env|
        addresses << env["REMOTE_ADDR"]
        [200, {}, ["hello"]]
      end
      serving(app, core: core, engine: engine) do |server|
        TIMES.times do
          reset_at_once(server.port)
          busy(server.port)
        end
      end
      seen = Array.new(addresses.size) { addresses.pop }.uniq
      assert_includes seen, OTHERS
      refute_includes seen, "127.0.0.1"
    end
  end

  private

  def reset_at_once(port)
    socket = TCPSocket.new("127.0.0.1", port, CLIENT)
    socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
    socket.write_nonblock(GET)
  ensure
    socket&.close
  end

  # A server that has something to do doesn't suspect that its clients have gone.
  def busy(port)
    TCPSocket.open("127.0.0.1", port, OTHERS) do |socket|
      socket.write(GET)
      socket.readpartial(1000)
    end
  end
end
