# frozen_string_literal: true

require "test_helper"

class TestServer < Minitest::Test
  include Serving

  APP = ->(env) { [200, { "content-type" => "text/plain" }, [env["PATH_INFO"]]] }

  def test_serves_once_start_returns_and_no_more_once_stop_has
    port = nil
    serving(APP) do |server|
      port = server.port
      assert_equal "/hello", get(server, "/hello").body
      assert_equal "http://127.0.0.1:#{port}", server.url
    end
    assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", port) }
  end

  def test_stop_answers_what_is_under_way
    entered = Queue.new
    leave = Queue.new
    app = lambda do |_env|
      entered << true
      leave.pop
      [200, {}, ["done"]]
    end
    serving(app) do |server|
      answer = Thread.new { get(server) }
      entered.pop
      stopping = Thread.new { server.stop }
      eventually("the listener's close") { RawClient.refused?(server.port) }
      leave << true
      assert_equal "done", answer.value.body
      stopping.join
    end
  end

  def test_a_drain_that_takes_too_long_is_given_up
    entered = Queue.new
    app = lambda do |_env|
      entered << true
      sleep
    end
    server = Cuttle::Server.new(app, shutdown_timeout: 0.1).start
    client(server) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      entered.pop
      server.stop
      assert RawClient.refused?(server.port)
    end
  end

  def test_run_blocks_until_stopped
    server = Cuttle::Server.new(APP)
    thread = Thread.new { server.run }
    assert_equal "/", get(server).body
    assert thread.alive?
    server.stop_soon
    thread.value
  end

  def test_a_stop_before_the_start_is_not_lost
    server = Cuttle::Server.new(APP)
    server.stop_soon
    server.run
    assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", server.port) }
  end

  # An app that waited for the stop returned to an engine that did not know of it yet, and took what a worker that stops
  # leaves to the others.
  def test_it_serves_until_it_stops_its_engine
    server = Cuttle::Server.new(APP).start
    eventually("its service") { server.serving? }
    engine = server.instance_variable_get(:@engine)
    stop = engine.method(:stop)
    served = nil
    engine.define_singleton_method(:stop) do |**options|
      served = server.serving?
      stop.call(**options)
    end
    server.stop
    assert_equal [true, false], [served, server.serving?]
  end

  def test_start_fails_if_the_port_is_in_use
    serving(APP) do |server|
      error = assert_raises(Cuttle::Error) { Cuttle::Server.new(APP, port: server.port).start }
      assert_equal "can't listen on tcp://127.0.0.1:#{server.port}: the port is in use", error.message
    end
  end

  def test_unix_sockets_and_several_listeners
    Dir.mktmpdir do |directory|
      serving(APP, binds: ["unix://#{directory}/s", "tcp://127.0.0.1:0"]) do |server|
        assert_equal "/unix", get(server.uris.first, "/unix").body
        assert_equal "/tcp", get(server.uris.last, "/tcp").body
      end
      assert_empty Dir.children(directory)
    end
  end

  # When the engine has closed the socket, a successor's file may have its inode.
  def test_the_file_of_a_socket_is_removed_when_a_stop_begins
    entered = Queue.new
    leave = Queue.new
    app = ->(_env) { [200, {}, [(entered << true) && leave.pop]] }
    Dir.mktmpdir do |directory|
      serving(app, binds: ["unix://#{directory}/s"]) do |server|
        answer = Thread.new { get(server) }
        entered.pop
        File.link("#{directory}/s", "#{directory}/next")
        stopping = Thread.new { server.stop }
        eventually("the file's end") { !File.exist?("#{directory}/s") }
        File.rename("#{directory}/next", "#{directory}/s")
        leave << "done"
        assert_equal "done", answer.value.body
        stopping.join
      end
      assert_path_exists "#{directory}/s"
    end
  end

  # Overflowed in nanoseconds, so that they were over at once.
  def test_timeouts_of_many_years
    Serving::ENGINES.each do |engine|
      options = { request_timeout: 10**12, idle_timeout: 10**12, write_timeout: 10**12 }
      serving(APP, engine: engine, keep_alive: true, **options) do |server|
        client(server) do |client|
          client.write("GET /1 HTTP/1.1\r\nHost: a\r\n")
          sleep 0.05 # such a deadline would be over
          assert_equal "/1", client.write("\r\n").response&.body, engine
          sleep 0.05
          assert_equal "/2", client.write("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n").response&.body, engine
        end
      end
    end
  rescue Cuttle::UsageError
    pass # to refuse them is as good
  end
end
