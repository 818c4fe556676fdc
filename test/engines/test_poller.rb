# frozen_string_literal: true

require "test_helper"
require "socket"

# Threads that ask one poller for work.
class TestPoller < Minitest::Test
  include Eventually

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @poller = Cuttle::Poller.new([@listener], env: {})
  end

  def teardown
    @poller.stop
    @thread&.kill&.join
    @client&.close
    @listener.close
  end

  # It was the one that waited in the kernel; without its successor nobody would see the request.
  def test_a_thread_whose_time_is_over_leaves_the_waiting_to_another
    found = Queue.new
    impatient = Thread.new { @poller.next(0.5) }
    asleep(impatient)
    @thread = Thread.new { found << (@poller.next ? true : false) }
    asleep(@thread)
    assert_equal false, impatient.value
    @client = Socket.tcp("127.0.0.1", @listener.local_address.ip_port)
    @client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    eventually("the request found") { !found.empty? }
    assert found.pop
  end

  private

  def asleep(thread)
    eventually("a thread that waits") { thread.status == "sleep" }
    sleep 0.05
  end
end
