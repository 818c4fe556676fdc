# frozen_string_literal: true

require "test_helper"
require "socket"
require "stringio"

# Threads that ask one poller for work.
class TestPoller < Minitest::Test
  include Eventually
  include OldContainer

  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  def setup
    @clients = []
    @listener = TCPServer.new("127.0.0.1", 0)
    @poller = Cuttle::Poller.new([@listener], env: {})
  end

  def teardown
    @poller.stop
    @thread&.kill&.join
    @clients.each(&:close)
    @listener.close
  end

  # This thread waited in the kernel; without a successor, no thread would notice the request.
  def test_a_thread_whose_time_is_over_leaves_the_waiting_to_another
    found = Queue.new
    impatient = Thread.new { @poller.next(0.5) }
    asleep(impatient)
    @thread = Thread.new { found << (@poller.next ? true : false) }
    asleep(@thread)
    assert_equal false, impatient.value
    connect.write(ASK)
    eventually("the request found") { !found.empty? }
    assert found.pop
  end

  # It computed for all of the time, because it took the refusal for a wait that had ended.
  def test_a_container_that_refuses_precise_waits
    assert_equal "false, true", old_container(<<~RUBY)
      require "socket"
      poller = Cuttle::Poller.new([TCPServer.new("127.0.0.1", 0)], env: {})
      before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      found = poller.next(1)
      print found, ", ", Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before < 0.1
    RUBY
  end

  # The io thread waits by then, and knows no deadline.
  def test_a_deadline_is_kept_that_a_thread_sets_before_it_stays_away
    poller = Cuttle::Poller.new([@listener], env: {}, shared: true, idle_timeout: 0.03, header_timeout: 0.03)
    late, idle = ["GET / HTTP/1.1\r\n", ASK].map { |octets| connect.write(octets) }
    exchange = poller.next(5)
    assert_equal 408, late.response.status
    late.close
    eventually("the end of its connection") { poller.stats[:connections] == 1 }
    answer(exchange)
    assert_equal 200, idle.response.status
    assert_equal :closed, idle.ending
  ensure
    poller&.stop
  end

  # Only those that have waited for a while are asked whether they are still there.
  def test_others_are_looked_for_when_those_that_waited_have_gone
    kept = Array.new(3) { connect.tap { |client| client.write(ASK) && answer(@poller.next(5)) } }
    kept.each { |client| client.write(ASK) }
    first = @poller.next(5)
    assert_equal 2, @poller.stats[:ready]
    ready = now
    kept.each(&:reset)
    eventually("some time") { now - ready > 0.05 }
    answer(first)
    connect.write(ASK)
    last = @poller.next(5)
    assert last, "nobody looked"
    answer(last)
    assert_equal 2, @poller.stats[:dropped]
  end

  # So one that closes after its first request costs the kernel less.
  def test_a_connection_is_watched_once_it_waits
    exchange, before = taken_unwatched
    answer(exchange)
    assert_equal before + 1, watched
  end

  # Its client may go, or its request wait for a thread.
  def test_a_connection_is_watched_when_a_thread_waits_in_the_kernel
    exchange, before = taken_unwatched
    eventually("a wait in the kernel, before which its time may be over") do
      assert_equal false, @poller.next(0.01)
      watched == before + 1
    end
    answer(exchange)
  end

  # A thread that had room for requests again put the listeners back too early, and they were reported without end.
  def test_without_room_for_another_connection_it_waits
    limited = Cuttle::Poller.new([@listener], env: {}, max_connections: 1)
    connect.write(ASK)
    answer(limited.next(5))
    connect
    assert_equal false, limited.next(0)
    computed = nil
    passed = elapsed do
      computed = elapsed(Process::CLOCK_THREAD_CPUTIME_ID) { 30.times { limited.next(0, 0) || limited.next(0.02) } }
    end
    assert_operator computed, :<, passed / 10
    assert_equal 1, limited.stats[:accepted]
  ensure
    limited.stop
  end

  # A fiber that waited for a descriptor had no turn as long as there was always another request.
  %w[Native Pure].each do |core|
    define_method("test_a_watched_descriptor_has_its_turn_among_requests_under_the_core_#{core}") do
      poller = Cuttle::Cores.const_get(core)::Poller.new([@listener], env: {})
      connect.write(ASK * 30)
      answer(poller.next(5))
      ready(poller) do |token|
        turns = Array.new(4) do
          found = poller.next(5)
          answer(found) unless found == token
          found == token ? :watch : :request
        end
        assert_equal %i[request watch], turns.uniq.sort
      end
    ensure
      poller&.stop
    end
  end

  # So the count never goes back when a request goes to another worker (test/cluster/test_scoreboard.rb).
  %w[Native Pure].each do |core|
    define_method("test_a_request_counts_once_it_waits_no_longer_under_the_core_#{core}") do
      poller = Cuttle::Cores.const_get(core)::Poller.new([@listener], env: {})
      client = connect.write(ASK)
      answer(poller.next(5))
      client.write(ASK)
      eventually("a request that waits") { poller.next(0.01, 0) || poller.stats[:ready] == 1 }
      assert_equal 1, poller.stats[:requests]
      answer(poller.next(5))
      assert_equal 2, poller.stats[:requests]
    ensure
      poller&.stop
    end
  end

  # The report waited until there was no request for a moment, as the next two did.
  def test_a_shortage_is_reported_while_requests_come
    connect.write(ASK * 30)
    answer(@poller.next(5))
    connect
    said = said_meanwhile { without_descriptors { 4.times { answer(@poller.next(5)) } } }
    assert_match(/no connection can be accepted/, said)
  end

  def test_a_full_spool_is_reported_while_requests_come
    assert_said(/reached their limit of 1000 octets/, max_spool: 1000) do
      connect.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
    end
  end

  def test_a_missing_proxy_header_is_reported_while_requests_come
    assert_said(/began without a PROXY header/, trust: %w[127.0.0.1], proxy_protocol: true) { connect.write(ASK) }
  end

  private

  # A poller with these limits reports what the block's client does while another client's requests never pause.
  def assert_said(line, **limits, &block)
    poller = Cuttle::Poller.new([@listener], env: {}, **limits)
    connect.write("#{"PROXY UNKNOWN\r\n" if limits[:proxy_protocol]}#{ASK * 30}")
    answer(poller.next(5))
    said = said_meanwhile { block.call && 8.times { answer(poller.next(5)) } }
    assert_match(line, said)
  ensure
    poller&.stop
  end

  # What is written to $stderr meanwhile.
  def said_meanwhile
    errors, $stderr = $stderr, StringIO.new
    yield
    $stderr.string
  ensure
    $stderr = errors
  end

  # Runs the block while the process can open nothing.
  def without_descriptors
    limits = Process.getrlimit(:NOFILE)
    Process.setrlimit(:NOFILE, 0, limits.last)
    yield
  ensure
    Process.setrlimit(:NOFILE, *limits)
  end

  # Yields the token of a watched descriptor that is ready. The core in Ruby has a thread that must have seen it.
  def ready(poller)
    reader, writer = IO.pipe
    poller.watch(reader.fileno, IO::READABLE, :token)
    writer.write("x")
    watches = poller.instance_variable_get(:@watches)
    eventually("the descriptor seen") { watches.nil? || watches.fired? }
    yield :token
  ensure
    poller.unwatch(reader.fileno)
    [reader, writer].each(&:close)
  end

  # Returns the exchange of a connection that the kernel does not watch, and how many it watches. A request that comes
  # after its connection was accepted makes the connection wait, so there may be several attempts.
  def taken_unwatched
    exchange = before = nil
    find_epoll
    eventually("a request that comes with its connection") do
      answer(exchange) if exchange
      before = watched
      connect.write(ASK)
      exchange = @poller.next(5)
      watched == before
    end
    [exchange, before]
  end

  # Replaces the poller, to know which descriptor is its own.
  def find_epoll
    others = epolls
    @poller = Cuttle::Poller.new([@listener], env: {})
    @epoll = (epolls - others).first
    skip "no epoll" unless @epoll && @poller.backend == "epoll"
  end

  def epolls
    Dir["/proc/self/fd/*"].select { |path| File.symlink?(path) && File.readlink(path).include?("eventpoll") }
  end

  def watched = File.read(@epoll.sub("/fd/", "/fdinfo/")).scan(/^tfd:/).length

  def connect = WireClient.new(@listener.local_address.ip_port).tap { |client| @clients << client }
  def answer(exchange) = exchange.respond(200, {}, ["x"])
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def asleep(thread)
    eventually("a thread that waits") { thread.status == "sleep" }
    sleep 0.05
  end
end
