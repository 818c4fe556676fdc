# frozen_string_literal: true

require "test_helper"
require "socket"

# A deadline is for the client. A request that came in time is served, even if every thread was in the app and read it
# after the deadline.
class TestLateRequests < Minitest::Test
  include Eventually

  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  LIMIT = 3 # seconds, in which the crowd comes on a machine that is busy
  CROWD = 150 # clients; a look at epoll reports at most 128

  def setup
    @clients = []
    @listener = TCPServer.new("127.0.0.1", 0)
  end

  def teardown
    @source&.stop
    @clients.each(&:close)
    @listener.close
  end

  %w[Native Pure].each do |core|
    define_method("test_requests_on_kept_connections_under_the_core_#{core}") do
      poll(core, idle_timeout: LIMIT)
      CROWD.times { ask(connect) }
      unread { @clients.each { |client| client.write(ASK) } }
      serve_all
    end

    define_method("test_the_rest_of_heads_under_the_core_#{core}") do
      poll(core, header_timeout: LIMIT)
      CROWD.times { connect.write(ASK[0, 20]) }
      eventually("all of them accepted", every: 0) { @source.next(0.01) || @source.stats[:accepted] == CROWD }
      unread { @clients.each { |client| client.write(ASK[20..]) } }
      serve_all
    end

    define_method("test_requests_on_the_blocking_side_under_the_core_#{core}") do
      connection = accept(core, idle_timeout: LIMIT, header_timeout: LIMIT)
      answer(connection.next_request)
      unread { @clients.first.write(ASK) }
      answer(connection.next_request)
      assert_equal [200, 200], Array.new(2) { @clients.first.response.status }
    end

    define_method("test_silence_is_still_late_under_the_core_#{core}") do
      connection = accept(core, idle_timeout: LIMIT / 30.0, header_timeout: LIMIT / 30.0)
      answer(connection.next_request)
      assert_equal 200, @clients.first.response.status
      assert_nil connection.next_request
      assert_equal :closed, @clients.first.ending
    end
  end

  private

  def poll(core, **limits)
    @source = Cuttle::Cores.const_get(core)::Poller.new([@listener], env: {}, **limits)
  end

  # The connection of a client that has sent a request.
  def accept(core, **limits)
    @source = Cuttle::Cores.const_get(core)::Acceptor.new([@listener], env: {}, **limits)
    connect.write(ASK)
    @source.accept
  end

  # Nobody reads what the block's clients send until the limit has passed.
  def unread
    yield
    sent = now
    eventually("the deadline") { now - sent > LIMIT }
  end

  def serve_all
    CROWD.times { answer(@source.next(5)) }
    assert_equal [200], @clients.map { |client| client.response.status }.uniq
  end

  def ask(client)
    client.write(ASK)
    answer(@source.next(5))
    assert_equal 200, client.response.status
  end

  def connect = WireClient.new(@listener.local_address.ip_port).tap { |client| @clients << client }
  def answer(exchange) = exchange.respond(200, {}, ["x"])
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
