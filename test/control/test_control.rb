# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "support/control_case"

# The control listener: where it listens, which clients may ask, and what it must not affect.
class TestControl < Minitest::Test
  include ControlCase

  def test_a_unix_socket_is_its_owners
    path = "#{@directory}/c"
    controlling do |control|
      assert_equal "unix://#{path}", control.uri
      assert_nil control.token
      assert_equal "600", format("%o", File.stat(path).mode & 0o777)
    end
    refute File.exist?(path)
  end

  def test_auto_is_a_socket_whose_name_nobody_can_guess
    uris = Array.new(2) { controlling(control_url: "auto") { |control| control.uri.tap { ask(control, "/live") } } }
    uris.each { |uri| assert_match(%r{\Aunix://#{Dir.tmpdir}/cuttle-#{Process.pid}-\h{8}\.sock\z}, uri) }
    refute_equal(*uris)
  end

  def test_tcp_gets_a_token
    controlling(control_url: "tcp://127.0.0.1:0", state_path: "#{@directory}/state") do |control|
      assert_match(%r{\Atcp://127\.0\.0\.1:[1-9]\d*\z}, control.uri)
      assert_match(/\A\h{32}\z/, control.token)
      assert_equal [403, 200], ["", "?token=#{control.token}"].map { |query| status(control, "/stats#{query}") }
    end
  end

  def test_a_token_for_a_unix_socket_and_none
    controlling(control_token: "x") { |control| assert_equal [403, "x"], [status(control, "/stats"), control.token] }
    controlling(control_token: "none") { |control| assert_equal 200, status(control, "/stats") }
  end

  # It listens before anything else is harmed.
  def test_where_it_can_not_listen
    controlling do
      error = assert_raises(Cuttle::Error) { Cuttle::Control.new(settings, @process) }
      assert_equal "can't listen on unix://#{@directory}/c: another process listens there", error.message
    end
    before = File.umask
    assert_raises(Cuttle::Error) { Cuttle::Control.new(settings(control_url: "unix:///no/such"), @process) }
    assert_equal before, File.umask
  end

  def test_a_socket_that_a_dead_server_left_is_replaced
    UNIXServer.new("#{@directory}/c").close
    controlling { |control| assert_equal 200, status(control, "/live") }
  end

  def test_idle_connections_hold_nobody_up
    controlling do |control|
      idle = Array.new(300) { UNIXSocket.new("#{@directory}/c") }
      assert_equal 200, status(control, "/stats")
    ensure
      idle&.each(&:close)
    end
  end

  def test_slow_and_hostile_clients
    controlling do |control|
      slow = Array.new(20) { UNIXSocket.new("#{@directory}/c") }
      slow.each { |socket| socket.write("GET /stop HTTP/1.1\r\nHo") }
      { "\0" * 1000 => 400, "GET /stop HTTP/1.1\r\n\r\n" => 400, "GET /stop?#{"a" * 70_000} HTTP/1.1\r\n\r\n" => 414,
        "POST /stop HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n" => 413,
        "POST /stop HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n" => 501,
        "GET /../stop HTTP/1.1\r\nHost: a\r\n\r\n" => 404, "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n" => 404 }
        .each { |bytes, status| assert_equal status, request(address(control), bytes).status, bytes[0, 60] }
      assert_empty @process.commands
      slow.each { |socket| assert_includes ["", nil], socket.read.to_s[%r{HTTP/1.1 2}] }
    ensure
      slow&.each(&:close)
    end
  end

  def test_many_at_once
    controlling(control_url: "tcp://127.0.0.1:0", control_token: "t") do |control|
      statuses = Array.new(16) { Thread.new { Array.new(20) { status(control, "/restart?token=t", "POST") } } }
      assert_equal [200], statuses.flat_map(&:value).uniq
      assert_equal 320, @process.commands.length
    end
  end

  # The supervisor forks while the listener answers. A child must not keep a client waiting, or the port.
  def test_a_forked_child_keeps_nothing
    controlling do |control|
      client(address(control)) do |client|
        client.write("GET /live HTTP/1.1\r\nHost: a\r\n\r\n").response
        child(control) do
          assert_equal 200, client.write("GET /live HTTP/1.1\r\nHost: a\r\n\r\n").response.status
          control.stop
          assert client.closed?
          assert_raises(Errno::ENOENT, Errno::ECONNREFUSED) { UNIXSocket.new("#{@directory}/c") }
          controlling { |next_one| assert_equal 200, status(next_one, "/live") }
        end
      end
    end
  end

  # A child that is forked while another thread loads code would wait for that.
  def test_requests_load_no_code
    program = <<~RUBY
      fake = Object.new
      %i[stats live? ready? command top].each { |name| fake.define_singleton_method(name) { |*| {} } }
      phase = { count: 0, sum: 0, buckets: Array.new(Cuttle::Ledger::BOUNDS.length, 0) }
      measures = { versions: Cuttle::Stats.versions, totals: {}, processes: [], owners: {}, ledger: { app: phase } }
      fake.define_singleton_method(:measures) { measures }
      control = Cuttle::Control.new(Cuttle::Settings.build(variables: {}, control_url: "auto"), fake).start
      before = $LOADED_FEATURES.dup
      %w[live stats stop nothing gc-stats metrics top].each do |path|
        socket = UNIXSocket.new(control.uri.delete_prefix("unix://"))
        socket.write("GET /\#{path}?token=%41 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        abort "no answer" if socket.read.empty?
        socket.close
      end
      puts $LOADED_FEATURES - before
      control.stop
    RUBY
    paths = Serving::ServingProcess::PATHS.map { |path| "-I#{path}" }
    out, status = Open3.capture2e(RbConfig.ruby, "--disable=gems", *paths, "-rcuttle", "-e", program)
    assert_equal ["", true], [out, status.success?]
  end

  def test_a_child_that_stops_it_harms_nobody
    controlling do |control|
      Process.wait(fork { control.stop.then { exit!(0) } })
      assert_equal 200, status(control, "/live")
    end
  end

  def test_stopping_waits_for_no_idle_client
    controlling do |control|
      client(address(control)) do |client|
        client.write("GET /live HTTP/1.1\r\nHost: a\r\n\r\n").response
        control.stop
        assert client.closed?
      end
    end
  end

  private

  # Runs the block while a forked child lives that closed its copies.
  def child(control)
    ready, tell = IO.pipe
    stay, go = IO.pipe
    pid = fork do
      control.close
      go.close
      tell.write(".")
      exit!(stay.read.empty? ? 0 : 1)
    end
    ready.read(1)
    yield
  ensure
    go.close
    assert Process.wait2(pid).last.success?
    [ready, tell, stay].each(&:close)
  end
end
