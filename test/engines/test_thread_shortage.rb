# frozen_string_literal: true

require "test_helper"

# A system without further threads (ThreadError): the connections that needed them wait, and the server continues to
# serve.
class TestThreadShortage < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  # Ended the server.
  def test_a_thread_per_connection
    with_server("threads", "0") do
      put "shortage"
      late = Array.new(3) { ask("/") }
      eventually("a failure") { File.exist?("#{@directory}/failed") }
      remove "shortage"
      assert_answered [*late, ask("/")]
    end
  end

  # Lost the connection for which the pool should have grown, and ended the server.
  %w[hybrid threads].each do |engine|
    define_method("test_a_pool_that_can_not_grow_under_#{engine}") do
      with_server(engine, "1:3") do
        put "shortage"
        first = ask("/wait?1")
        eventually("a failure") { File.exist?("#{@directory}/failed") }
        late = Array.new(3) { ask("/") }
        put "go"
        assert_answered [first, *late]
        remove "go", "shortage"
        assert_grows
      end
    end
  end

  # The one thread that can't be had is tried again, once there are some.
  def test_threads_that_come_as_they_help
    with_server("hybrid", "auto") do
      put "shortage"
      clients = [*%w[/wait?5 /wait?6 /wait?7].map { |path| ask(path) }, ask("/"), ask("/")]
      eventually("a failure") { File.exist?("#{@directory}/failed") }
      put "go"
      assert_answered clients
      remove "go", "shortage"
      assert_grows(5)
    end
  end

  private

  def with_server(engine, threads)
    script = ["#{__dir__}/support/short_of_threads.rb", @directory, engine, threads]
    @server = Serving::ServingProcess.new(script)
    @server.wait_until_ready
    yield
    assert_equal 0, @server.stop.exitstatus, @server.err
  ensure
    put "go"
    @server&.finish
  end

  # So many requests are in the app at once.
  def assert_grows(count = 3)
    held = Array.new(count) { |number| ask("/wait?again#{number}") }
    eventually("#{count} in the app") { Dir["#{@directory}/in.again*"].size == count }
    put "go"
    assert_answered held
  end

  def assert_answered(clients)
    assert_equal(["done"] * clients.size, clients.map { |client| client.response.body }, @server.err)
  rescue WireClient::Truncated, WireClient::Silence => error
    flunk "#{error.message}: #{@server.err}"
  end

  def put(name) = FileUtils.touch("#{@directory}/#{name}")

  def remove(*names) = names.each { |name| File.delete("#{@directory}/#{name}") }

  def ask(path)
    client = WireClient.new(@server.port)
    @clients << client
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end
end
