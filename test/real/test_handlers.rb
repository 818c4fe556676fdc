# frozen_string_literal: true

require_relative "real"
require_relative "support/forum_storage"

# The other ways to start the server: those of Rack, of Rails, and of a test that drives a browser.
class HandlersTest < Minitest::Test
  include Real::Web
  include Eventually

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

  # A second fork would leave the listeners to a process that does not know of them.
  def test_a_daemon_restarts_hot
    Dir.mktmpdir do |directory|
      app = "#{directory}/config.ru"
      File.write(app, "run ->(_) { [200, {}, [\"\#{Process.pid} one\"]] }")
      port = Cuttle::Lab::Servers::Ports.free
      assert system("bundle", "exec", "rackup", "-D", "-s", "cuttle", "-o", "127.0.0.1", "-p", port.to_s, app,
                    %i[out err] => File::NULL)
      answer = -> { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) rescue "" }
      pid = eventually("the daemon") { answer.call[/\d+(?= one)/]&.to_i }
      File.write(app, "run ->(_) { [200, {}, [\"\#{Process.pid} two\"]] }")
      Process.kill("USR2", pid)
      eventually("the new code") { answer.call == "#{pid} two" }
    ensure
      Process.kill("TERM", pid) if pid
    end
  end

  def test_rails_server_serves
    skip Real::FORUM.missing if Real::FORUM.missing
    @storage = Real::ForumStorage.new
    pidfile = "#{@storage.path}/pid"
    serve(Real::FORUM, "FORUM_STORAGE" => @storage.path, "PIDFILE" => pidfile) do |port|
      %W[bin/rails server -b 127.0.0.1 -p #{port}]
    end
    assert_includes get("/").body, "Threads or fibers?"
    assert_equal server.pid.to_s, File.read(pidfile)
    assert_includes server.log, "=> Booting Cuttle\n"
    assert_predicate server.stop, :success?
    refute File.exist?(pidfile)
  end

  # `rails server` always passes an address, but says which options the user gave.
  def test_rails_server_listens_where_the_configuration_file_says
    skip Real::FORUM.missing if Real::FORUM.missing
    @storage = Real::ForumStorage.new
    serve(Real::FORUM, "FORUM_STORAGE" => @storage.path,
                      "CUTTLE_CONFIG" => "#{@storage.path}/cuttle.rb") do |port|
      File.write("#{@storage.path}/cuttle.rb", "bind 'tcp://127.0.0.1:#{port}'\nengine 'threads'\nthreads 2")
      %W[bin/rails server -P #{@storage.path}/pid]
    end
    assert_includes get("/").body, "Threads or fibers?"
    assert_match(/^  engine +threads$/, server.log)
  end

  # The pidfile names the process, which stays the same.
  def test_rails_server_restarts_hot
    skip Real::FORUM.missing if Real::FORUM.missing
    @storage = Real::ForumStorage.new
    pidfile = "#{@storage.path}/pid"
    serve(Real::FORUM, "FORUM_STORAGE" => @storage.path) do |port|
      %W[bin/rails server -b 127.0.0.1 -p #{port} -P #{pidfile}]
    end
    eventually("the handlers of its signals") { server.log.include?("Ctrl-C stops") }
    Process.kill("USR2", server.pid)
    eventually("the restart") { server.log.scan("Ctrl-C stops").length == 2 }
    assert_includes get("/").body, "Threads or fibers?"
    assert_equal server.pid.to_s, File.read(pidfile)
    assert_predicate server.stop, :success?
    refute File.exist?(pidfile)
  end

  # Each process that is forked inherits the block that removes it.
  def test_the_pidfile_of_rails_server_stays_when_workers_end
    skip Real::FORUM.missing if Real::FORUM.missing
    @storage = Real::ForumStorage.new
    pidfile = "#{@storage.path}/pid"
    serve(Real::FORUM, "FORUM_STORAGE" => @storage.path, "WEB_CONCURRENCY" => "2") do |port|
      %W[bin/rails server -b 127.0.0.1 -p #{port} -P #{pidfile}]
    end
    eventually("a mould and two workers") { server.log.include?("Ctrl-C stops") && server.pids.length == 4 }
    Process.kill("TTOU", server.pid)
    eventually("the end of one") { server.pids.length == 3 }
    assert_equal server.pid.to_s, File.read(pidfile)
    before = server.pids.drop(1)
    Process.kill("USR2", server.pid)
    eventually("the restart") { server.log.scan("Ctrl-C stops").length == 2 }
    eventually("the end of those before") { !before.intersect?(server.pids) }
    assert_equal server.pid.to_s, File.read(pidfile)
    assert_predicate server.stop, :success?
    refute_path_exists pidfile
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
