# frozen_string_literal: true

require "test_helper"
require "socket"
require "stringio"
require "tempfile"
require "tmpdir"

# A request that was answered for the app (app_timeout) before a busy thread had begun with it: an engine continues
# without a message, because the watchdog has reported it.
class TestAnsweredTooEarly < Minitest::Test
  include Eventually

  TIMEOUT = 0.1 # long enough for a request to reach the app before it

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @poller = Cuttle::Poller.new([@listener], env: {}, shared: true, app_timeout: TIMEOUT)
    @called = 0
    @app = Cuttle::Rack::Adapter.new(->(_) { [200, {}, [(@called += 1).to_s]] })
  end

  def teardown
    @poller.stop
    @listener.close
  end

  def test_an_app
    assert_goes_on Cuttle::Service.build(app: @app)
  end

  def test_an_app_behind_static_files
    Dir.mktmpdir do |path|
      static = Cuttle::Static.new(path, beneath: Cuttle::Beneath, content_types: Cuttle::Rack::ContentTypes)
      assert_goes_on Cuttle::Service.build(app: @app, static: static)
    end
  end

  def test_an_app_with_a_log
    assert_goes_on Cuttle::Service.build(app: @app, log: Cuttle::Telemetry::AccessLog.new(StringIO.new))
  end

  # Its descriptor stayed open, for good.
  def test_a_file_whose_name_came_too_late
    Tempfile.create("cuttle", binmode: true) do |file|
      file.write("x" * 100_000)
      file.flush
      exchange, client = ask
      body = Bodies::OfFile.new(file.path)
      body.define_singleton_method(:to_path) { Eventually.eventually { exchange.finished? } && super() }
      before = OpenFiles.count(file.path)
      Cuttle::Rack::Reply.new(exchange, { "rack.errors" => StringIO.new }, 200, {}, body).deliver
      assert_equal before, OpenFiles.count(file.path)
      assert_equal 503, client.final_response.status
    ensure
      client&.close
    end
  end

  private

  def ask
    client = WireClient.new(@listener.local_address.ip_port).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    [@poller.next(PATIENCE), client]
  end

  def assert_goes_on(service)
    exchange, client = ask
    eventually("an answer for the app") { exchange.finished? }
    assert_silent { service.call(exchange) }
    assert_equal 503, client.final_response.status
    assert_equal 0, @called
    assert_equal :closed, client.ending
  ensure
    client&.close
  end
end
