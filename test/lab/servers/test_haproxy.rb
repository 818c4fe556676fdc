# frozen_string_literal: true

require "test_helper"
require "net/http"
require_relative "support/served_app"

# Servers behind a router: which server gets which request, what ends them, and what the lab finds out about them.
class TestHaproxy < Minitest::Test
  include Eventually
  include ServedApp

  Haproxy = Cuttle::Lab::Servers::Peers::Haproxy
  # Which server answered, and how often so far.
  APP = <<~'RUBY'
    count = 0
    run(lambda do |env|
      Process.exit!(3) if env["PATH_INFO"] == "/die"
      text = "#{Process.pid} #{count += 1}"
      kept = env["PATH_INFO"] == "/kept" ? { "cache-control" => "public, max-age=60" } : {}
      [200, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s }.merge(kept), [text]]
    end)
  RUBY

  def test_requests_of_one_connection_go_to_all_servers_in_turn
    start("roundrobin")
    Net::HTTP.start("127.0.0.1", @server.port) do |http|
      pids = Array.new(6) { http.get("/").body[/\d+/] }
      assert_equal [2, 2, 2], pids.tally.values
    end
  end

  def test_one_that_is_busy_gets_less
    start("leastconn")
    assert_equal 3, servers.length
    # A request that is not over: its server has one connection, the others none.
    socket = TCPSocket.new("127.0.0.1", @server.port)
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
    eventually("its server to be left alone") { servers.length == 2 }
  ensure
    socket&.close
  end

  def test_only_the_one_with_a_cache_answers_twice_without_asking_twice
    start(Haproxy::CACHED)
    assert_equal [true, true, true], proved("cache")
    assert_equal 1, answers("/kept").uniq.length
    assert_equal 4, answers("/").uniq.length
    @server.stop
    start("leastconn")
    assert_equal [true, false, false], proved("cache")
    assert_equal 4, answers("/kept").uniq.length
  end

  def test_what_is_not_so_is_not_proved
    start("roundrobin")
    @server.setup.model = "leastconn"
    assert_equal [false, "leastconn", "roundrobin"], proved("balance")
    @server.setup.model = Haproxy::CACHED
    assert_equal [false, true, false], proved("cache")
    @server.setup.workers = 4
    assert_equal [false, 4, 3], proved("servers")
    assert_equal [false, 4, 3], proved("workers")
    @server.setup.threads = 2
    assert_equal [false, "hybrid", "single"], proved("engine")
  end

  def test_the_end_of_one_server_is_the_end_of_all
    start("random")
    pids = @server.tree.pids
    assert_equal 5, pids.length
    ask_to_die
    eventually("the end") { !@server.running? && pids.none? { |pid| File.exist?("/proc/#{pid}") } }
  end

  # Without HAProxy as well.
  def test_the_configuration_follows_from_the_setup
    setup = setup_of("random").tap { |each| each.port = 4711 }
    text = Haproxy::Configuration.new(setup, %w[/a /b], "/c").to_s
    assert_match(/^  balance random\(1\)$/, text)
    assert_match(/^  bind 127\.0\.0\.1:4711 backlog 512$/, text)
    assert_match(/^  server s2 unix@\/b$/, text)
    assert_match(/^  option httpclose$/, text)
    refute_match(/cache|check/, text)
    setup.model = Haproxy::CACHED
    setup.keep_alive = true
    text = Haproxy::Configuration.new(setup, %w[/a /b], "/c").to_s
    assert_match(/^  balance leastconn$/, text)
    assert_match(/cache-use answers/, text)
    assert_match(/^  option http-server-close$/, text)
  end

  def test_random_has_no_name_in_its_statistics
    assert Haproxy::Statistics.means?("unknown", "random(1)")
    assert Haproxy::Statistics.means?("leastconn", "leastconn")
    refute Haproxy::Statistics.means?("unknown", "leastconn")
    refute Haproxy::Statistics.means?("roundrobin", "random(1)")
    refute Haproxy::Statistics.means?(nil, "roundrobin")
  end

  private

  def start(model)
    serve("haproxy", setup_of(model, keep_alive: true))
  end

  def setup_of(model, keep_alive: false)
    made(model, workers: 3, keep_alive: keep_alive, backlog: 512)
  end

  def answers(path, count = 4)
    Array.new(count) { get(path).body }
  end

  def get(path)
    Net::HTTP.get_response(URI("http://127.0.0.1:#{@server.port}#{path}"))
  end

  # Pids of those that answer six requests.
  def servers
    answers("/", 6).map { |text| text[/\d+/] }.uniq
  end

  def ask_to_die
    assert_equal "502", get("/die").code
  rescue EOFError, SystemCallError
    nil # so soon
  end
end
