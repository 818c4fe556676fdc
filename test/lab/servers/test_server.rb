# frozen_string_literal: true

require "test_helper"
require "json"

# Servers of the lab that don't react, and a lab that is interrupted while it waits for them.
class TestLabServer < Minitest::Test
  include TemporaryDirectory

  PROBE = Cuttle::Lab::Servers::Server::Probe
  TREE = Cuttle::Lab::Servers::ProcessTree

  # Answers, reports a signal to end, and does not end.
  STUBBORN = <<~'RUBY'
    require "socket"
    $stdout.sync = true
    puts "here"
    sleep if ARGV[1] == "silent"
    trap(:TERM) { puts "told to end" }
    listener = TCPServer.new("127.0.0.1", ARGV[0].to_i)
    loop do
      socket = listener.accept
      socket.gets("\r\n\r\n")
      puts "no database" if ARGV[1] == "fails"
      socket.write("HTTP/1.1 #{ARGV[1] ? "500 Fails" : "200 OK"}\r\nContent-Length: 0\r\n\r\n")
      socket.close
    end
  RUBY

  # As far as a Server looks at one.
  Stubborn = Struct.new(:program, :habit) do
    def name = "stubborn"
    def environment(_setup) = {}
    def command(setup) = [RbConfig.ruby, "--disable=gems", "-e", program, setup.port.to_s, *habit]
    def complete?(_server) = true
  end

  def test_a_stop_that_is_interrupted_leaves_nothing_behind
    server = Cuttle::Lab::Servers::Server.start(Stubborn.new(STUBBORN), made)
    assert_interrupted("told to end") { server.stop }
    refute server.running?
    assert_empty server.tree.pids
  end

  def test_a_start_that_is_interrupted_leaves_nothing_behind
    server = Cuttle::Lab::Servers::Server.new(Stubborn.new(STUBBORN, "silent"), made)
    assert_interrupted("here") { server.start }
    refute server.running?
    assert_empty server.tree.pids
  end

  def test_a_stop_that_is_interrupted_before_it_knows_the_processes_leaves_nothing_behind
    server = Cuttle::Lab::Servers::Server.new(sleeper, made, give_up: -> { true })
    make = TREE.method(:new)
    interrupted = lambda do |pid|
      looks = 0
      make.call(pid).tap do |tree|
        tree.define_singleton_method(:pids) { (looks += 1) == 1 ? raise(Interrupt) : super() }
      end
    end
    TREE.stub(:new, interrupted) { assert_raises(Interrupt) { server.start } }
    refute server.running?
  end

  def test_a_start_gives_up_when_asked
    asked = 0
    server = Cuttle::Lab::Servers::Server.new(sleeper, made, give_up: -> { (asked += 1) > 2 })
    assert_equal "stubborn was still starting when the lab was interrupted",
                 assert_raises(Cuttle::Lab::Failure) { server.start }.message
    refute server.running?
  end

  # Some servers answer with errors while they start, but not for long.
  def test_an_app_that_only_fails_is_not_waited_for_as_long_as_one_that_starts
    ticks = 0
    errors = %w[fails quiet].map do |habit|
      server = Cuttle::Lab::Servers::Server.new(Stubborn.new(STUBBORN, habit), made)
      Cuttle.stub(:now, -> { (ticks += 1) * 0.2 }) { assert_raises(Cuttle::Lab::Failure) { server.start }.message }
    end
    assert_equal ["stubborn answers GET / with status 500: no database",
                  "stubborn answers GET / with status 500"], errors
  end

  # One that computes may be loading the app, so it gets the time of a start, unless it has accepted a request.
  def test_an_app_that_hangs_is_not_waited_for_as_long_as_one_that_loads
    assert_equal ["stubborn has not answered GET / for 20 s and is idle: the app hangs",
                  "stubborn has not answered GET / for 20 s and still computes: the app hangs"],
                 [error_of_silence(cores: 0, accepts: true), error_of_silence(cores: 1, accepts: true)]
    assert_match(/\Astubborn did not answer within 180 s/, error_of_silence(cores: 1, accepts: false))
  end

  def test_what_a_probe_finds
    port = TCPServer.open("127.0.0.1", 0) do |server|
      PROBE.stub(:more, ->(_socket) { raise PROBE::Silent }) do
        assert_equal :silent, PROBE.status(server.local_address.ip_port)
      end
      server.local_address.ip_port
    end
    assert_nil PROBE.status(port)
  end

  # What tunes Ruby is the caller's to say; what loads a bundle is ours.
  def test_servers_get_the_callers_ruby_options_and_not_our_bundle
    said = clean("RUBYOPT" => "-rbundler/setup -W1 -r/x/bundler/setup --yjit", "RUBYLIB" => "/y",
                 "RUBY_YJIT_ENABLE" => "1", "BUNDLE_GEMFILE" => "/z", "GEM_HOME" => "/gems")
    assert_equal "-W1 --yjit", said["RUBYOPT"]
    assert_equal({ "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil, "GEM_HOME" => nil },
                 said.slice("RUBYLIB", "BUNDLE_GEMFILE", "GEM_HOME"))
    refute_includes said, "RUBY_YJIT_ENABLE"
    assert_equal "", clean("RUBYOPT" => nil)["RUBYOPT"]
  end

  # Server::CLEAN in a process that sees this environment.
  def clean(environment)
    code = "ENV.update(#{environment.inspect}); require 'cuttle'; require 'json'; " \
           "puts JSON.generate(Cuttle::Lab::Servers::Server::CLEAN)"
    JSON.parse(IO.popen([*Serving::ServingProcess.ruby, "-e", code], &:read))
  end

  def test_last_words_are_what_went_wrong_and_not_where
    said = "Puma starting\nconfig.ru:1:in `load': no database (RuntimeError)\n\tfrom config.ru:2:in `<main>'\n\n"
    assert_equal "Puma starting / config.ru:1:in `load': no database (RuntimeError)",
                 Cuttle::Lab::Servers::Server.last_words(said)
    assert_equal "from here on", Cuttle::Lab::Servers::Server.last_words("from here on\n")
    assert_equal "", Cuttle::Lab::Servers::Server.last_words("")
  end

  private

  # Starts a server that does not answer and uses that many cores. Time passes only while a probe waits.
  def error_of_silence(cores:, accepts:)
    now = 0
    server = Cuttle::Lab::Servers::Server.new(Stubborn.new(STUBBORN, "silent"), made)
    Cuttle.stub(:now, -> { now }) do
      TREE.stub(:cpu_seconds, ->(_pid) { now * cores }) do
        accepting(accepts) do
          PROBE.stub(:status, ->(_port) { (now += PROBE::PATIENCE) && :silent }) do
            assert_raises(Cuttle::Lab::Failure) { server.start }.message
          end
        end
      end
    end
  end

  # A process that never listens.
  def sleeper
    Stubborn.new.tap { |peer| peer.define_singleton_method(:command) { |_setup| %w[sleep 60] } }
  end

  # Whether the server has accepted the request. (The kernel's list of connections is long while other tests run.)
  def accepting(accepts, &block)
    TREE.stub(:accepted, []) { TREE.stub(:open?, accepts, &block) }
  end

  def made
    port = Cuttle::Lab::Servers::Ports.free
    Cuttle::Lab::Servers::Setup.new(port: port, env: {}, log: "#{@directory}/log")
  end

  # An Interrupt comes to the block's thread when the server has printed +words+.
  def assert_interrupted(words)
    waiting = Thread.current
    interrupter = Thread.new do
      Eventually.eventually(words) do
        File.exist?("#{@directory}/log") && File.read("#{@directory}/log").include?(words)
      end
      waiting.raise(Interrupt)
    end
    assert_raises(Interrupt) do
      yield
      sleep # until it comes
    end
  ensure
    interrupter.join
  end
end
