# frozen_string_literal: true

require "test_helper"

# After stop: a connection that was kept has the drain grace to ask once more, one that has never asked has a moment.
class TestDrain < Minitest::Test
  include Serving

  # Longer than a test may take.
  GRACE = 10 * PATIENCE

  APP = ->(_) { [200, { "content-type" => "text/plain" }, ["hello"]] }

  def setup
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  Serving::ENGINES.each do |engine|
    define_method("test_a_kept_connection_is_answered_once_more_under_#{engine}") do
      draining(engine) do |server|
        kept = connect(server)
        refute kept.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").close?
        server.stop_soon
        response = kept.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal ["hello", true], [response.body, response.close?]
        assert_equal :closed, kept.ending
        assert_ends_before_the_grace server
      end
    end

    # The first delayed the end by the time that a head may take.
    { "a lone CRLF" => "\r\n", "nothing" => "" }.each do |name, octets|
      define_method("test_#{name.tr(" ", "_")}_is_no_request_to_wait_for_under_#{engine}") do
        draining(engine) do |server|
          client = connect(server).write(octets)
          eventually("the connection") { server.stats[:connections] == 1 }
          server.stop_soon
          assert_ends_before_the_grace server
          assert_equal "", client.rest
        end
      end
    end

    define_method("test_without_a_grace_a_kept_connection_ends_at_once_under_#{engine}") do
      draining(engine, drain_grace: 0) do |server|
        kept = connect(server)
        kept.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        server.stop_soon
        assert_equal :closed, kept.ending
        assert_ends_before_the_grace server
      end
    end

    # The stream's end sets the connection's deadline, and is none of the engine's threads'.
    define_method("test_the_end_of_a_stream_begins_the_grace_under_#{engine}") do
      go_on = Queue.new
      body = ->(stream) { Thread.new { stream.write(go_on.pop) && stream.close } }
      app = ->(_) { [200, { "content-type" => "text/plain" }, body] }
      draining(engine, app: app, drain_grace: 1) do |server|
        client = connect(server).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the request") { server.stats[:busy] == 1 }
        server.stop_soon
        go_on << "line"
        assert_equal "line", client.response.body
        assert_ends_before_the_grace server
        assert_equal :closed, client.ending
      end
    end
  end

  private

  def draining(engine, app: APP, drain_grace: GRACE, &block)
    serving(app, engine: engine, drain_grace: drain_grace, keep_alive: true, shutdown_timeout: 2 * GRACE, &block)
  end

  def connect(server) = WireClient.new(server.port).tap { |client| @clients << client }

  def assert_ends_before_the_grace(server)
    assert Thread.new { server.wait }.join(PATIENCE), "it waits"
  end
end
