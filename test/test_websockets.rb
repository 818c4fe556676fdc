# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support/serving"
require_relative "support/wire_client"

# The end of WebSockets that an app leaves open (Server#close_websockets), and what must not be written to. The contract
# suite has what every engine does at its end; here are the cases of the core.
class TestWebsockets < Minitest::Test
  include Serving

  REQUEST = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
  SWITCHING = "HTTP/1.1 101 Switching Protocols\r\n\r\n"
  GOING_AWAY = "\x88\x02\x03\xE9".b

  # Makes a test for each core.
  def self.each_core(name, &block)
    Cuttle::Cores.names.each { |core| define_method("test_#{name}_#{core}") { instance_exec(core, &block) } }
  end

  def setup
    @sockets = Queue.new
    @app = lambda do |env|
      @sockets << env["rack.hijack"].call.tap { |socket| socket.write(SWITCHING) }
      [200, {}, []]
    end
  end

  def teardown
    @clients&.each(&:close)
  end

  each_core("a_websocket_gets_a_close_frame") do |core|
    hijacked(core) do |server, client|
      assert_equal [1, 0], closed(server)
      assert_equal GOING_AWAY, client.exactly(4)
      assert_equal :closed, client.ending
    end
  end

  each_core("on_a_unix_socket_too") do |core|
    Dir.mktmpdir("cuttle") do |directory|
      hijacked(core, binds: ["unix://#{directory}/s"], address: "#{directory}/s") do |server, client|
        assert_equal [1, 0], closed(server)
        assert_equal GOING_AWAY, client.exactly(4)
        assert_equal :closed, client.ending
      end
    end
  end

  # The app gets the end of its input, and can send nothing behind the frame.
  each_core("a_client_that_keeps_its_side_open") do |core|
    hijacked(core) do |server, client, socket|
      reading = Thread.new { socket.read }
      assert_equal [1, 0], closed(server)
      assert_equal GOING_AWAY, client.exactly(4)
      assert_equal "", reading.value
      assert_raises(Errno::EPIPE) { socket.write("more") }
    end
  end

  # A frame is under way: ours would come in the middle of it.
  each_core("nothing_is_written_behind_octets_that_the_client_has_not_taken") do |core|
    hijacked(core, receive_buffer: 4096) do |server, client, socket|
      sent = fill(socket)
      assert_equal [0, 1], closed(server)
      socket.close
      assert_equal "x" * sent, client.rest
    end
  end

  # A busy machine may keep the app from sending for as long as the server waits.
  each_core("nothing_is_written_while_the_app_goes_on_sending") do |core|
    eventually("an app that goes on sending", within: 3 * PATIENCE) { assert_untouched_while_sending(core) }
  end

  # The client takes the first frame for the end, and ignores what follows it (RFC 6455, 1.4).
  each_core("an_app_that_waits_for_the_clients_close_frame") do |core|
    hijacked(core) do |server, client, socket|
      socket.write("\x88\x02\x03\xE8")
      assert_equal [1, 0], closed(server)
      assert_equal "\x88\x02\x03\xE8".b + GOING_AWAY, client.rest
    end
  end

  each_core("a_response_that_is_no_101_makes_no_websocket") do |core|
    @app = ->(_) { [200, { "rack.hijack" => ->(socket) { @sockets << socket } }, []] }
    hijacked(core, status: 200) do |server, client, socket|
      assert_equal [0, 0], closed(server)
      socket.close
      assert_equal :closed, client.ending
    end
  end

  each_core("requests_that_want_no_websocket") do |core|
    # RFC 9110, 7.8: HTTP/1.0 has no upgrades.
    [REQUEST.sub("websocket", "h2c"), REQUEST.sub("Upgrade\r", "close\r"), REQUEST.sub(/^Sec.*\r\n/, ""),
     REQUEST.sub("HTTP/1.1", "HTTP/1.0")].each do |text|
      hijacked(core, request: text) do |server, client, socket|
        assert_equal 1, server.stats.fetch(:hijacked)
        assert_equal [0, 0], closed(server), text
        socket.close
        assert_equal :closed, client.ending
      end
    end
  end

  each_core("names_and_values_in_any_case_and_in_lists") do |core|
    request = "GET / HTTP/1.1\r\nHost: a\r\nCONNECTION: keep-alive , UPGRADE\r\nupgrade: h2c, WebSocket\r\n" \
              "sec-websocket-KEY: x\r\n\r\n"
    hijacked(core, request: request) { |server, _| assert_equal [1, 0], closed(server) }
  end

  # Not by close, but by the collector. (Threads that wait may refer to the last ones.)
  each_core("an_app_that_drops_sockets") do |core|
    serving(@app, core: core) do |server|
      clients = Array.new(20) { open_socket(server) }
      20.times { @sockets.pop }
      eventually("the collector") { GC.start.nil? && server.stats.fetch(:hijacked) < 10 }
      eventually("the ends of connections") { clients.count { |client| client.ending(0) == :closed } > 10 }
    end
  end

  # As code does that knows descriptors only: the IO is not closed, and its number is another socket's.
  def test_an_app_that_closes_beneath_the_io
    hijacked("native") do |server, client, socket|
      socket.autoclose = false
      IO.for_fd(socket.fileno).close
      ours, theirs = UNIXSocket.pair
      others = [ours]
      others << ours.dup until others.last.fileno >= socket.fileno
      assert_includes others.map(&:fileno), socket.fileno
      assert_equal 0, server.stats.fetch(:hijacked)
      assert_equal [0, 0], closed(server)
      assert_equal :wait_readable, theirs.read_nonblock(1, exception: false)
      assert_equal :closed, client.ending
    ensure
      [*others, theirs].each(&:close)
    end
  end

  # Many are opened and closed: closed ones are forgotten.
  each_core("the_count_goes_with_the_sockets") do |core|
    serving(@app, core: core) do |server|
      3.times do
        clients = Array.new(40) { open_socket(server) }
        assert_equal 40, server.stats.fetch(:hijacked)
        40.times { @sockets.pop.close }
        assert_equal 0, server.stats.fetch(:hijacked)
        clients.each(&:close)
      end
    end
  end

  each_core("a_forked_child_has_none_of_them") do |core|
    hijacked(core) do |server, client|
      child = fork do
        exit!(server.close_websockets == [0, 0] && server.stats.fetch(:hijacked).zero? ? 0 : 1)
      end
      assert_predicate Process.wait2(child).last, :success?
      refute client.heard?(0)
      assert_equal 1, server.stats.fetch(:hijacked)
    end
  end

  private

  # Yields a server, a client and the app's socket.
  def hijacked(core, address: nil, receive_buffer: nil, request: REQUEST, status: 101, **options)
    serving(@app, core: core, **options) do |server|
      client = open_socket(server, address, request, status, receive_buffer: receive_buffer)
      yield server, client, @sockets.pop
    end
  end

  def open_socket(server, address = nil, request = REQUEST, status = 101, **options)
    client = WireClient.new(address || server.port, **options)
    (@clients ||= []) << client
    assert_equal status, client.write(request).response(head: status == 200).status
    client
  end

  # Returns nil, and asserts nothing, where the app paused.
  def assert_untouched_while_sending(core)
    hijacked(core) do |server, client, socket|
      reading = Thread.new { client.rest }
      times = [Cuttle.now]
      sending = Thread.new { loop { sleep(0.001) && socket.write("x") && times << Cuttle.now } rescue Errno::EPIPE }
      told = closed(server)
      times << Cuttle.now
      sending.kill.join
      socket.close
      return if times.each_cons(2).any? { |one, other| other - one > 0.2 }

      assert_equal [0, 1], told
      assert_match(/\Ax+\z/, reading.value)
    end
  end

  # Sends until the socket takes no more. Returns how many octets it took.
  def fill(socket)
    sent = 0
    loop do
      count = socket.write_nonblock("x" * 65_536, exception: false)
      sent += count if count.is_a?(Integer)
      return sent if count == :wait_writable && !socket.wait_writable(0.1)
    end
  end

  # How many got a frame, and how many got none.
  def closed(server) = server.close_websockets
end
