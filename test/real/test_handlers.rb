# frozen_string_literal: true

require_relative "real"
require_relative "support/forum_storage"

# The other ways to start the server: those of Rack, of Rails, and of a test that drives a browser.
class HandlersTest < Minitest::Test
  include Real::Web

  attr_reader :server

  def teardown
    server.kill if server.is_a?(Real::Server)
    @storage&.remove
  end

  def test_rackup_serves
    serve(Real::HELLO) { |port| %W[bundle exec rackup -s cuttle -o 127.0.0.1 -p #{port} hello.ru] }
    assert_equal "Hello, world!\n", get("/").body
    assert_predicate server.stop, :success?
  end

  def test_rails_server_serves
    skip Real::FORUM.missing if Real::FORUM.missing
    @storage = Real::ForumStorage.new
    serve(Real::FORUM, "FORUM_STORAGE" => @storage.path) do |port|
      %W[bin/rails server -u cuttle -b 127.0.0.1 -p #{port} -P #{@storage.path}/pid]
    end
    assert_includes get("/").body, "Threads or fibers?"
    assert_predicate server.stop, :success?
  end

  # As Capybara starts a server: in a thread of the test's own process, which asks for its own app until it answers.
  def test_a_test_serves_its_own_app
    asked = []
    @server = Cuttle::Server.new(->(env) { [200, {}, [(asked << env["PATH_INFO"]).size.to_s]] })
    @server.start
    assert_equal %w[1 2], [get("/one").body, get("/two").body]
    assert_equal %w[/one /two], asked
    @server.stop
    assert_raises(Errno::ECONNREFUSED) { get("/three") }
  end

  private

  def serve(app, environment = {}, &command)
    @server = Real::Server.new(app, Real::Way.new("hybrid"), environment, &command).wait_until_ready
  end
end
