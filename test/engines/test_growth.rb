# frozen_string_literal: true

require "test_helper"
require "json"

# --threads auto: threads are started while requests wait and the app waits for something else than the GVL.
class TestGrowth < Minitest::Test
  include Serving
  include TemporaryDirectory

  CLIENTS = 12

  # A limit that these tests don't come to.
  MANY = { "most" => 64 }.freeze

  # Growing by mistake it would have a thread for each client.
  FEW = 5

  # Whether the app can sleep with the GVL.
  KEPT = RUBY_PLATFORM.start_with?("x86_64-linux")
  NOT_KEPT = "how to sleep with the GVL is known for Linux on x86-64 only"

  def setup
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  # Also where each request comes on a connection of its own: those in the backlog count.
  def test_it_grows_as_far_as_the_app_waits
    with_server(MANY) do |server|
      assert_equal [3, 64], running_and_most(server)
      hold(CLIENTS)
      assert_includes CLIENTS..(CLIENTS + 1), running(server)
    end
  end

  def test_it_grows_for_connections_that_are_kept
    with_server(MANY) do |server|
      @clients = Array.new(CLIENTS) { client_of(server) }
      @clients.each { |client| assert_equal "done", client.ask(request("/")).body }
      hold(@clients)
      assert_operator running(server), :>=, CLIENTS
    end
  end

  # But it does once the app waits.
  def test_it_does_not_grow_where_the_app_computes
    with_server(MANY) do |server|
      assert_few_for("/compute", server)
      hold(CLIENTS)
    end
  end

  # Looks at a fixed time after the app has given up the GVL would hardly ever find it free.
  def test_it_grows_where_the_app_waits_shortly_and_seldom
    skip NOT_KEPT unless KEPT
    over = false
    with_server(MANY) do |server|
      asking = Array.new(CLIENTS) { Thread.new { once("/brief", server) until over } }
      eventually("another thread") { running(server) > 3 }
    ensure
      over = true
      asking&.each(&:join)
    end
  end

  # Each time a single look finds a request that waits.
  def test_it_grows_where_requests_wait_for_a_moment_at_a_time
    with_server(MANY) do |server|
      @clients = Array.new(4) { client_of(server) }
      eventually("another thread") do
        @clients.each { |client| client.write(request("/moment")) }.each(&:response)
        running(server) > 3
      end
    end
  end

  # What only a try for the GVL shows, as the cores are free.
  def test_it_does_not_grow_where_the_app_keeps_the_gvl
    skip NOT_KEPT unless KEPT
    with_server(MANY) { |server| assert_few_for("/keep", server, 60, most: 4) }
  end

  def test_it_shrinks_when_threads_are_idle
    with_server("idle" => 0.2, **MANY) do |server|
      hold(CLIENTS)
      release
      eventually("the threads that it began with") { running(server) == 3 }
      hold(5)
    end
  end

  # An app may have pools that Cuttle doesn't know.
  def test_the_limit
    with_server { |server| assert_limit(5, server) }
  end

  # It is no reason for a thread less to begin with, unless it is below that number.
  def test_a_limit_that_somebody_says
    [4, 3, 2, 1].each do |most|
      with_server("most" => most) { |server| assert_limit(most, server) }
    end
  end

  # It would try for the GVL again and again, for nothing.
  def test_no_thread_looks_for_a_shortage_where_none_may_be_added
    skip "no /proc" unless File.directory?("/proc/self/task")
    with_server("most" => 4) { |server| eventually("the one that looks") { looks?(server) } }
    with_server("most" => 3) do |server|
      hold(3)
      refute looks?(server)
    end
  end

  def looks?(server)
    Dir["/proc/#{server.pid}/task/*/comm"].any? { |path| File.read(path) == "cuttle growth\n" }
  rescue Errno::ENOENT
    retry # a thread has ended
  end

  def test_no_more_threads_than_database_connections
    with_server("pool" => 2) { |server| assert_limit(2, server) }
  end

  def test_as_many_threads_as_database_connections
    with_server("pool" => 7) { |server| assert_limit(7, server) }
  end

  def test_a_pool_of_one_connection_is_no_limit
    with_server("pool" => 1) { |server| assert_equal [3, 5], running_and_most(server) }
  end

  def test_more_threads_than_database_connections_where_somebody_says_so
    with_server("pool" => 2, "most" => 5) { |server| assert_equal [3, 5], running_and_most(server) }
  end

  def test_no_thread_without_memory
    with_server("memory" => "none") do |server|
      hold(3)
      late = ask("/")
      eventually("a look") { File.exist?("#{@directory}/looked") }
      assert_equal 3, running(server)
      release
      assert_equal "done", late.response.body
    end
  end

  # The thread that the stop needs comes, though all are in the app.
  def test_a_stop_while_all_threads_wait
    with_server do |server|
      held = hold(3)
      Process.kill("TERM", server.pid)
      eventually("the listener's end") { refused?(server) }
      release
      assert_equal(["done"] * 3, held.map { |client| client.response.body })
    end
  end

  # Threads that an app kills are replaced, and others still start.
  def test_threads_that_the_app_kills
    with_server(MANY) do |server|
      3.times { assert_raises(WireClient::Truncated) { ask("/kill").response } }
      hold(CLIENTS)
      assert_operator running(server), :>=, CLIENTS
    end
  end

  private

  def with_server(facts = {})
    @server = Serving::ServingProcess.new(["#{__dir__}/support/growing.rb", @directory, JSON.generate(facts)],
                                          fork_server: ForkServer.shared)
    @server.wait_until_ready
    yield @server
    release
    assert_equal 0, @server.stop.exitstatus, @server.err
    assert_empty @server.err
  ensure
    release
    @server&.finish
  end

  # So many requests that are in the app at once, and stay there; or one of each of these clients.
  def hold(clients)
    FileUtils.rm_f("#{@directory}/go")
    clients = Array.new(clients) { client_of(@server) } if clients.is_a?(Integer)
    FileUtils.rm_f(Dir["#{@directory}/in.*"])
    clients.each_with_index { |client, index| client.write(request("/wait?#{index}")) }
    eventually("#{clients.size} in the app") { Dir["#{@directory}/in.*"].size == clients.size }
    clients
  end

  # It begins with three threads, or as many as the limit allows, and has so many requests in the app.
  def assert_limit(most, server)
    assert_equal [[3, most].min, most], running_and_most(server)
    hold(most)
    late = ask("/")
    refute late.heard?(0.1)
    assert_equal most, running(server)
    release
    assert_equal "done", late.response.body
  end

  def release = FileUtils.touch("#{@directory}/go")

  def running(server) = running_and_most(server).first

  # The server writes its figures down, because a request for them would need a thread.
  def running_and_most(server)
    asked = "#{@directory}/ask"
    FileUtils.touch(asked)
    eventually("figures (#{server.err})") { !File.exist?(asked) }
    JSON.parse(File.read("#{@directory}/figures")).values_at("running", "max_threads")
  end

  # Many clients ask again and again, and few threads answer them.
  def assert_few_for(path, server, times = 10, most: FEW)
    asked = Array.new(CLIENTS) { Thread.new { Array.new(times) { once(path, server) }.uniq } }
    assert_equal([["done"]], asked.map(&:value).uniq)
    assert_operator running(server), :<=, most
  end

  def once(path, server)
    client = client_of(server)
    client.ask(request(path)).body
  ensure
    client&.close
  end

  def refused?(server)
    TCPSocket.open("127.0.0.1", server.port, &:close)
    false
  rescue Errno::ECONNREFUSED
    true
  end

  def ask(path) = client_of(@server).write(request(path))

  def client_of(server) = WireClient.new(server.port).tap { |client| @clients << client }

  def request(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"
end
