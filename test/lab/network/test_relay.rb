# frozen_string_literal: true

require "test_helper"
require "timeout"

# Lab::Network::Relay between a client and a server that these tests play themselves. TestFlow has when octets arrive at
# the latest.
class TestRelay < Minitest::Test
  include Eventually

  Relay = Cuttle::Lab::Network::Relay

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @relays = []
    @sockets = []
  end

  def teardown
    [*@sockets, @listener].each(&:close)
    @relays.each(&:stop)
  end

  def test_octets_pass_both_ways_as_they_are
    client, server = connect
    there = Random.bytes(3_000_000)
    back = Random.bytes(2_000_000)
    writers = [[client, there], [server, back]].map do |socket, octets|
      Thread.new { socket.write(octets) && socket.close_write }
    end
    received = [Thread.new { server.read }, Thread.new { client.read }].map(&:value)
    writers.each(&:join)
    assert received == [there, back]
  end

  def test_a_delay_each_way_and_for_the_handshake
    started = now
    client, server = connect(delay: 0.1)
    client.write("ping")
    assert_equal "ping", server.readpartial(10)
    assert_operator now - started, :>=, 0.3 # the handshake's round trip, and one way
    assert_operator elapsed { server.write("pong") && client.readpartial(10) }, :>=, 0.1
  end

  def test_a_bandwidth
    client, server = connect(bandwidth: 200_000)
    assert_operator elapsed { send_and_end([[[client, server], 60_000]]) }, :>=, 0.25
  end

  # Three that shared it would be later than one whose line has half of its bandwidth.
  def test_connections_do_not_share_a_line
    relay = relay(bandwidth: 100_000)
    three = Array.new(3) { connect(through: relay) }
    slow = connect(bandwidth: 50_000)
    order = []
    send_and_end([*three, slow].map { |line| [line, 60_000] }) { |server| order << server }
    assert_equal slow.last, order.last
  end

  # A server that sends more than the line takes must feel it, or slow clients would cost it nothing.
  def test_a_fast_sender_has_to_wait
    _client, server = connect(bandwidth: 50_000)
    sent = 0
    stuck_since = now
    until now - stuck_since > 0.3
      part = server.write_nonblock("x" * 65_536, exception: false)
      part == :wait_writable ? server.wait_writable(0.05) : (sent += part) && stuck_since = now
      flunk "the relay swallows everything" if sent > 64 * 1024 * 1024
    end
  end

  def test_an_end_in_one_direction_leaves_the_other_open
    client, server = connect(delay: 0.02)
    client.write("question")
    client.close_write
    assert_equal "question", server.read
    server.write("answer")
    server.close_write
    assert_equal "answer", client.read
  end

  def test_a_close_arrives_after_what_was_sent_before
    client, server = connect(delay: 0.05)
    server.write("last words")
    server.close
    assert_equal "last words", client.read
  end

  def test_a_reset_is_passed_on_as_one
    client, server = connect(delay: 0.02)
    reset(client)
    assert_raises(Errno::ECONNRESET) { to_end(server) }
    client, server = connect(delay: 0.02)
    reset(server)
    assert_raises(Errno::ECONNRESET) { to_end(client) }
  end

  def test_a_server_that_sends_after_the_client_closed_is_reset
    client, server = connect
    client.close
    assert_nil server.read(1)
    eventually("a reset") do
      server.write_nonblock("x" * 1000)
      false
    rescue Errno::ECONNRESET, Errno::EPIPE
      true
    end
  end

  # Nothing is written, and nothing read any more: only the relay can notice.
  def test_a_reset_after_an_end_is_passed_on
    client, server = connect(delay: 0.01)
    client.close_write
    assert_nil server.read(1)
    reset(client)
    eventually("the server's connection to be reset") { server.getsockopt(:TCP, :INFO).unpack("C") == [7] }
  end

  def test_a_server_that_refuses_resets_the_client
    relay = relay(delay: 0.01)
    @listener.close
    client = socket(TCPSocket.new("127.0.0.1", relay.port))
    assert_raises(Errno::ECONNRESET) { to_end(client) }
    @listener = TCPServer.new("127.0.0.1", 0)
    assert_predicate relay, :running?
  end

  def test_it_outlives_what_its_connections_do
    relay = relay(delay: 0.002, bandwidth: 5_000_000)
    random = Random.new(1)
    60.times do
      client, server = connect(through: relay)
      client.write("x" * random.rand(20_000))
      server.write("y" * random.rand(200_000))
      [client, server].shuffle(random: random).each { |socket| random.rand(2).zero? ? reset(socket) : socket.close }
    end
    client, server = connect(through: relay)
    client.write("still there")
    assert_equal "still there", server.readpartial(20)
  end

  def test_wrong_lines
    assert_raises(Cuttle::UsageError) { Relay.start(1, delay: -1) }
    assert_raises(Cuttle::UsageError) { Relay.start(1, bandwidth: 0) }
  end

  private

  # Sends that many octets over each line at once, and reads them. Yields each server when it has all of them. Returns
  # the first.
  def send_and_end(lines, &block)
    writers = lines.map { |(client, _), octets| Thread.new { client.write("x" * octets) && client.close_write } }
    octets = lines.to_h { |(_, server), number| [server, number] }
    first = first_to_end(lines.map(&:first)) do |server|
      assert_equal octets.fetch(server), server.read.bytesize
      block&.call(server)
    end
    writers.each(&:join)
    first
  end

  # The server for which the block returns first.
  def first_to_end(pairs)
    done = Thread::Queue.new
    readers = pairs.map do |_, server|
      Thread.new do
        yield server
        done << server
      end
    end
    readers.each(&:join)
    done.pop
  end

  def relay(**line)
    Relay.start(@listener.addr[1], **line).tap { |relay| @relays << relay }
  end

  # [client's socket, server's], each other's end through a relay.
  def connect(through: nil, **line)
    through ||= relay(**line)
    client = socket(TCPSocket.new("127.0.0.1", through.port))
    [client, socket(@listener.accept)]
  end

  def socket(socket)
    @sockets << socket
    socket
  end

  # A reset that never comes fails the test, and does not stop it.
  def to_end(socket)
    Timeout.timeout(PATIENCE) { socket.read }
  end

  def reset(socket)
    socket.setsockopt(Socket::Option.linger(true, 0))
    socket.close
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
