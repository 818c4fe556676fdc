# frozen_string_literal: true

require "timeout"
require_relative "key_updates"
require_relative "tls_case"

# Clients that are slow, broken or malicious, and a server that stays as it is.
class TestTlsHostile < TlsCase
  # A client that stops in the middle of the handshake takes no thread, and has a limit.
  each_engine("a_stalled_handshake_ends_in_time") do |engine|
    secured(engine: engine, threads: 2, header_timeout: 0.3) do |server|
      hello = client_hello
      stalled = [hello, hello[0, 3], hello[0, 60], ""].map { |octets| plain(server).write(octets) }
      stalled.each { |client| assert_includes %i[closed reset], end_of(client) }
      assert_serves(server)
      eventually("the end of all connections") { server.stats[:connections].zero? || server.stats[:connections] == 1 }
    end
  end

  def test_stalled_handshakes_hold_up_nobody
    secured(engine: "hybrid", threads: 2) do |server|
      hello = client_hello
      50.times { |number| plain(server).write(hello[0, number * 4]) }
      assert_serves(server)
    end
  end

  # Whoever asks in plain HTTP learns what is wrong.
  each_engine("a_plain_request_gets_a_400") do |engine|
    secured(engine: engine) do |server|
      ["GET / HTTP/1.1\r\nHost: a\r\n\r\n",
       "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n#{"x" * 100_000}",
       "OPTIONS * HTTP/1.0\r\n\r\n", "P"].each do |request|
        client = plain(server).write(request)
        answer = client.response
        assert_equal [400, "This port speaks TLS: take https://\n"], [answer.status, answer.body]
        assert_equal :closed, client.ending
      end
      assert_serves(server)
      assert_equal 1, server.stats[:requests]
    end
  end

  each_engine("garbage_ends_the_connection") do |engine|
    secured(engine: engine) do |server|
      random = Random.new(5)
      [*Array.new(40) { |number| "\x16\x03\x01".b + random.bytes(number * 50) }, "\x00" * 100, "\x80\x2e\x01\x00\x02",
       "\x16\x03\x01\xff\xff#{"a" * 70_000}", "\x15\x03\x01\x00\x02\x02\x28", "\xff" * 20_000].each do |octets|
        client = plain(server).write(octets)
        client.half_close
        assert_includes %i[closed reset], end_of(client)
      end
      assert_serves(server)
    end
  end

  # A record that was changed on its way, after the handshake.
  each_engine("a_forged_record_ends_the_connection") do |engine|
    secured(engine: engine) do |server|
      client = connect(server)
      client.ask(GET)
      client.socket.ssl.io.write("\x17\x03\x03\x00\x20#{"f" * 32}")
      assert_equal :reset, client.ending # in TLS's sense: there is an alert and no farewell
      assert_serves(server)
    end
  end

  # A FIN alone may be anybody's. The half of a request that came is never answered.
  each_engine("an_end_without_a_farewell_in_a_request") do |engine|
    secured(engine: engine) do |server|
      ["GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"].each do |half|
        client = connect(server).write(half)
        client.socket.ssl.io.shutdown(Socket::SHUT_WR)
        assert_includes %i[closed reset], client.ending
      end
      assert_serves(server)
      assert_equal 1, server.stats[:requests]
    end
  end

  each_engine("clients_that_vanish_at_any_moment") do |engine|
    secured(->(_) { [200, {}, ["x" * 1_000_000]] }, engine: engine) do |server|
      hello = client_hello
      0.step(hello.bytesize - 1, 23) { |count| plain(server).tap { |client| client.write(hello[0, count]) }.reset }
      20.times { connect(server).tap { |client| client.write(GET) }.reset }
      20.times { connect(server, receive_buffer: 4096).tap { |client| client.write(GET).fill }.reset }
      assert_equal 1_000_000, ask(server).body.bytesize
      eventually("the end of all connections") { server.stats[:connections] <= 1 }
    end
  end

  # The server answers the client's request with an alert: no renegotiation, and the connection continues or ends.
  def test_renegotiation_is_refused
    skip "no openssl program" unless system("which openssl", out: File::NULL)
    calls = Queue.new
    secured(->(_) { calls << true && [200, {}, ["hello"]] }) do |server|
      command = ["openssl", "s_client", "-connect", "127.0.0.1:#{server.port}", "-tls1_2", "-legacy_renegotiation"]
      out = IO.popen([*command, { err: %i[child out] }], "r+") do |client|
        client.write("R\n")
        client.flush
        eventually("s_client's end") { !client.read_nonblock(1, exception: false).is_a?(Symbol) } && client.read
      end
      assert_match(/no renegotiation|RENEGOTIATING/i, out)
      assert_empty calls
      assert_serves_hello(server)
    end
  end

  # Many of the largest records at once, and records without octets.
  each_engine("a_flood_of_records") do |engine|
    secured(->(env) { [200, {}, [env["rack.input"].read.bytesize.to_s]] }, engine: engine) do |server|
      body = "r" * (16_384 * 40)
      client = connect(server)
      assert_equal body.bytesize.to_s,
                   client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}").body
    end
  end

  # Such records kept a thread and the lock of its loop for as long as they came, so other clients got no answer.
  each_engine("a_flood_of_records_without_data_ends_the_connection") do |engine|
    skip_without_key_updates
    calls = Queue.new
    secured(->(_) { calls << true && [200, {}, ["hello"]] }, engine: engine) do |server|
      socket = short_segments(server)
      records = KeyUpdates.new(socket).records(20_000, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      writer = fork { socket.write(records) && exit! } # at the same time, whatever the server's threads do
      Timeout.timeout(PATIENCE) { socket.read rescue nil } # to the end
      Process.wait(writer)
      assert_empty calls
      assert_serves(server)
    end
  end

  # A client may renew its keys now and then.
  each_engine("renewed_keys") do |engine|
    skip_without_key_updates
    calls = Queue.new
    secured(->(env) { calls << env["PATH_INFO"] && [200, {}, ["hello"]] }, engine: engine) do |server|
      client = plain(server)
      keys = KeyUpdates.new(client.socket)
      3.times { |number| client.write(keys.records(number, "GET /#{number} HTTP/1.1\r\nHost: a\r\n\r\n")) }
      assert_equal %w[/0 /1 /2], Array.new(3) { Timeout.timeout(PATIENCE) { calls.pop } }
    end
  end

  # Heads that never end are answered as without TLS.
  each_engine("a_slow_head_is_answered_with_408") do |engine|
    secured(engine: engine, header_timeout: 0.3) do |server|
      client = connect(server).write("GET / HTTP/1.1\r\n")
      assert_equal 408, client.response.status
      assert_equal :closed, client.ending
    end
  end

  each_engine("an_upload_that_is_spooled") do |engine|
    app = ->(env) { [200, {}, [Digest::SHA256.hexdigest(env["rack.input"].read)]] }
    secured(app, engine: engine) do |server|
      body = Random.new(9).bytes(5_000_000)
      client = connect(server)
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n")
      StringIO.new(body).each(nil, 100_001) { |part| client.write(part) }
      assert_equal Digest::SHA256.hexdigest(body), client.response.body
    end
  end

  # Handshakes in progress have a moment; a client that has finished one gets an answer.
  each_engine("a_stop_while_handshakes_are_under_way") do |engine|
    server = Cuttle::Server.new(HELLO, engine: engine, binds: [TlsFiles.uri], drain_grace: 0.3).start
    half = Array.new(5) { |number| plain(server).write(client_hello[0, number * 30]) }
    done = connect(server).write(GET)
    assert_equal "hello", done.response.body
    server.stop
    half.each { |client| assert_includes %i[closed reset], end_of(client) }
  ensure
    server&.stop
  end

  private

  # A connected socket whose octets arrive steadily, as from a network.
  def short_segments(server)
    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:TCP, :MAXSEG, 1_000)
    socket.connect(Socket.sockaddr_in(server.port, "127.0.0.1"))
    @clients << socket
    socket
  end

  def skip_without_key_updates = (why = KeyUpdates.missing) && skip(why)

  # The first octets of a real client.
  def client_hello
    ours, theirs = UNIXSocket.pair
    OpenSSL::SSL::SSLSocket.new(ours).connect_nonblock(exception: false)
    theirs.readpartial(10_000)
  ensure
    [ours, theirs].each(&:close)
  end

  # How the connection ended; alerts before that don't matter.
  def end_of(client)
    client.rest
    client.ending
  end

  def assert_serves_hello(server) = assert_equal("hello", ask(server).body)
end
