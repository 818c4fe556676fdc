# frozen_string_literal: true

require "test_helper"

# Clients that have gone before their request's turn came.
class TestAbandoned < Minitest::Test
  include Serving

  GONE = 20

  # What keeps the app to one request at a time, so that the others queue.
  ONE_AT_A_TIME = { "fibers" => { max_fibers: 1 }, "hybrid" => { threads: 1 }, "threads" => { threads: 1 } }.freeze

  def setup
    @paths = Queue.new
    @go_on = Queue.new
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  Serving::ENGINES.each do |engine|
    # They were run all the same, three of four, while a live client waited for 5 s.
    define_method("test_reset_requests_are_dropped_and_counted_under_#{engine}") do
      behind_a_busy_app(engine) do |server|
        GONE.times { |number| ask(server, "/gone/#{number}").reset }
        live = ask(server, "/live")
        @go_on << true
        assert_equal "/live", live.response.body
        assert_equal ["/first", "/live"], Array.new(@paths.size) { @paths.pop }
        eventually("#{GONE} dropped, not #{server.stats[:dropped].inspect}") { server.stats[:dropped] == GONE }
      end
    end

    # A FIN alone means that the client has nothing more to say, not that it has gone (case 113).
    define_method("test_half_closed_requests_are_answered_under_#{engine}") do
      behind_a_busy_app(engine) do |server|
        clients = Array.new(3) { |number| ask(server, "/#{number}").half_close }
        @go_on << true
        assert_equal(%w[/0 /1 /2], clients.map { |client| client.response.body })
        assert_equal 0, server.stats[:dropped]
      end
    end

    define_method("test_half_closed_requests_are_dropped_where_that_is_asked_for_under_#{engine}") do
      behind_a_busy_app(engine, half_close: "drop") do |server|
        clients = Array.new(3) { |number| ask(server, "/#{number}").half_close }
        live = ask(server, "/live")
        @go_on << true
        assert_equal "/live", live.response.body
        assert_equal [""] * 3, clients.map(&:rest)
        assert_equal ["/first", "/live"], Array.new(@paths.size) { @paths.pop }
      end
    end
  end

  private

  # Yields a server whose app is in its first request, until something comes into @go_on.
  def behind_a_busy_app(engine, **options)
    app = lambda do |env|
      @paths << (path = env["PATH_INFO"])
      @go_on.pop if path == "/first"
      [200, { "content-type" => "text/plain" }, [path]]
    end
    serving(app, engine: engine, **ONE_AT_A_TIME.fetch(engine, {}), **options) do |server|
      first = ask(server, "/first")
      eventually("the first request") { @paths.size == 1 }
      yield server
      assert_equal "/first", first.response.body
    ensure
      @go_on << true
    end
  end

  def ask(server, path)
    client = WireClient.new(server.port)
    @clients << client
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end
end
