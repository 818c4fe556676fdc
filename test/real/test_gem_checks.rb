# frozen_string_literal: true

require_relative "real"
require "tmpdir"

# A gem that does harm under an engine is named once at the start, where the app is loaded.
class GemChecksTest < Minitest::Test
  # As rack-timeout shows itself.
  RACKUP = <<~RUBY
    module Rack
      class Timeout
        class RequestTimeoutException < Exception; end
      end
    end
    run ->(_env) { [200, {}, ["hello"]] }
  RUBY

  def test_rack_timeout_is_named_where_requests_share_a_thread
    Real::ENGINES.each do |engine|
      expected = Cuttle::Engines.traits(engine).fibers? ? 1 : 0
      assert_equal expected, log_of(Real::Way.new(engine, 2)).scan("rack-timeout").length, engine
    end
  end

  def test_an_app_without_such_gems
    assert_empty Cuttle::Rack::GemChecks.lines(Cuttle::Engines.traits("fibers"))
  end

  private

  # What a server of an app with the gem says until it has answered.
  def log_of(way)
    Dir.mktmpdir do |directory|
      File.write(rackup = "#{directory}/config.ru", RACKUP)
      server = Real::Server.new(Real::App.new(name: "gems", rackup: rackup, environment: {}, flags: []), way)
      server.wait_until_ready
      Net::HTTP.get(URI("#{server.url}/"))
      server.log
    ensure
      server&.kill
    end
  end
end
