# frozen_string_literal: true

require "test_helper"
require "socket"
require "stringio"
require "tmpdir"

# A request that was answered for the app (app_timeout) before a busy thread had begun with it: an engine goes on, and
# says nothing, for the watchdog did.
class TestAnsweredTooEarly < Minitest::Test
  include Eventually

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @poller = Cuttle::Poller.new([@listener], env: {}, shared: true, app_timeout: 0.01)
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

  private

  def assert_goes_on(service)
    client = WireClient.new(@listener.local_address.ip_port).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    exchange = @poller.next(PATIENCE)
    eventually("an answer for the app") { exchange.finished? }
    assert_silent { service.call(exchange) }
    assert_equal 503, client.final_response.status
    assert_equal 0, @called
    assert_equal :closed, client.ending
  ensure
    client&.close
  end
end
