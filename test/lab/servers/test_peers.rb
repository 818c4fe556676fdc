# frozen_string_literal: true

require "test_helper"

# The contract of every peer: it starts as it was asked to, proves it, answers, and leaves nothing behind. What is not
# installed is skipped, and says how it can be had.
class TestLabPeers < Minitest::Test
  include TemporaryDirectory

  APP = <<~RUBY
    module App
      def self.call(_env) = [200, { "content-type" => "text/plain", "content-length" => "5" }, ["hello"]]
    end
    run App
  RUBY

  # Numbers to ask each of them for, the first it supports of each.
  SHAPES = [[0, 3], [0, 1], [2, 3], [2, 1], [1, 1]].freeze

  def setup
    File.write("#{@directory}/config.ru", APP)
  end

  Cuttle::Lab::Servers::Peers.names.each do |name|
    peer = Cuttle::Lab::Servers::Peers.find(name)
    [*(peer.models.empty? ? [nil] : peer.models), *peer.variants].each do |model|
      define_method("test_#{[name, model].compact.join("_")}_is_what_was_asked_for") do
        skip peer.unavailable if peer.unavailable

        shapes(peer, model).each { |shape| assert_proved peer, shape }
      end
    end

    define_method("test_#{name}_says_what_it_is") do
      skip peer.unavailable if peer.unavailable

      assert_match(/\A\d+\.\d+/, peer.version)
      assert_kind_of String, Cuttle::Lab::Servers::Peers.describe(name)
    end
  end

  def test_an_unknown_one
    error = assert_raises(Cuttle::UsageError) { Cuttle::Lab::Servers::Peers.find("apache") }
    assert_match(/unknown server "apache": cuttle, puma/, error.message)
  end

  def test_the_reason_why_a_server_can_not_have_a_model
    assert_match(/always forks/, reason("unicorn", workers: 0))
    assert_match(/does not fork/, reason("thin", model: "evented", workers: 2))
    assert_match(/one thread in a process/, reason("unicorn", workers: 1, threads: 5))
    assert_match(/one thread in a process/, reason("webrick", threads: 2))
    assert_nil reason("webrick", threads: 0)
    assert_match(/no model turbo/, reason("thin", model: "turbo"))
    assert_match(/closes every connection/, reason("unicorn", workers: 1))
    assert_nil reason("unicorn", workers: 1, keep_alive: false)
    assert_match(/for Ruby #{RUBY_VERSION} only/, reason("puma", ruby: "/opt/another/bin/ruby"))
    File.symlink(RbConfig.ruby, "#{@directory}/ruby")
    assert_nil reason("puma", ruby: "#{@directory}/ruby")
  end

  def test_an_app_that_does_not_boot
    File.write("#{@directory}/config.ru", "raise 'not today'")
    error = assert_raises(Cuttle::Lab::Failure) do
      start(Cuttle::Lab::Servers::Peers.find("cuttle"), make("reactor", 0, 1))
    end
    assert_match(/cuttle ended while it started: .*not today/, error.message)
  end

  # A version manager names such a place in GEM_HOME.
  def test_cuttle_finds_the_gems_that_this_program_finds
    gems = "#{@directory}/gems"
    FileUtils.mkdir_p(%w[specifications gems/dep-1.0/lib].map { |path| "#{gems}/#{path}" })
    File.write("#{gems}/specifications/dep-1.0.gemspec", "Gem::Specification.new('dep', '1.0')")
    File.write("#{gems}/gems/dep-1.0/lib/dep.rb", "DEP = 'found'")
    File.write("#{@directory}/config.ru", "require 'dep'; run ->(_env) { [200, {}, [DEP]] }")
    Gem.use_paths(Gem.dir, [*Gem.path, gems])
    server = start(Cuttle::Lab::Servers::Peers.find("cuttle"), make("reactor", 0, 1))
    assert_equal "found", Net::HTTP.get(URI(server.url))
  ensure
    server&.stop
    Gem.clear_paths
  end

  # It may be that of production.
  def test_cuttle_under_the_apps_own_configuration
    FileUtils.mkdir("#{@directory}/config")
    File.write("#{@directory}/config/cuttle.rb", <<~RUBY)
      quiet
      stdout_redirect "#{@directory}/out.log", "/nowhere/err.log"
      pidfile "/nowhere/cuttle.pid"
      state_path "/nowhere/cuttle.state"
      workers 2
      before_worker_boot { $stderr.puts "hooked" }
    RUBY
    setup = make("hybrid", 1, 2).tap { |each| each.directory = @directory }
    server = start(Cuttle::Lab::Servers::Peers.find("cuttle"), setup)
    assert_equal [true, "hybrid", "hybrid"], proved(server, "engine")
    assert_equal [true, 2, 2], proved(server, "threads")
    assert_includes server.output, "hooked"
    refute_path_exists "#{@directory}/out.log"
  ensure
    server&.stop
  end

  def test_an_unproved_setting_says_so
    peer = Cuttle::Lab::Servers::Peers::Cuttle.new("cuttle")
    server = start(peer, make("hybrid", 0, 3))
    server.setup.threads = 4
    assert_equal [false, 4, 3], proved(server, "threads")
    return unless Cuttle::Lab::Servers::Backlog.of(server.port)

    assert_equal [true, 1024, 1024], proved(server, "backlog")
    peer.define_singleton_method(:backlog) { |_setup| 512 }
    assert_equal [false, 512, 1024], proved(server, "backlog")
    peer.define_singleton_method(:backlog) { |_setup| nil }
    assert_equal [nil, nil, 1024], proved(server, "backlog")
  ensure
    server&.stop
  end

  # A server with fewer threads, or more, than it was asked for is not taken for one that has them.
  { "yahns" => [0, 3], "rainbows" => [1, 3], "thin" => [0, 3], "iodine" => [0, 3], "itsi" => [0, 3] }
    .each do |name, (workers, threads)|
      define_method("test_#{name}_has_no_other_number_of_threads") do
        peer = Cuttle::Lab::Servers::Peers.find(name)
        skip peer.unavailable if peer.unavailable

        server = start(peer, make(peer.models.last, workers, threads, peer.keeps_alive.first))
        server.proof # a pool may be made for the first request
        assert_equal [true, threads, threads], proved(server, "threads")
        server.setup.threads = threads + 1
        assert_equal [false, threads + 1, threads], proved(server, "threads")
      ensure
        server&.stop
      end
    end

  # On JRuby, the system's names of that many threads are no longer unique.
  def test_jruby_has_more_threads_than_names
    peer = Cuttle::Lab::Servers::Peers.find("jruby")
    skip peer.unavailable if peer.unavailable

    server = start(peer, make("threads", 0, 16))
    assert_equal [true, 16], proved(server, "threads").first(2)
    server.setup.threads = 40
    refute proved(server, "threads").first
  ensure
    server&.stop
  end

  private

  def shapes(peer, model)
    SHAPES.product(peer.keeps_alive).map { |(workers, threads), keep_alive| make(model, workers, threads, keep_alive) }
          .reject { |setup| peer.supports?(setup) }.uniq { |setup| [setup.workers, setup.keep_alive] }
  end

  def make(model, workers, threads, keep_alive = true)
    port = Cuttle::Lab::Servers::Ports.free
    Cuttle::Lab::Servers::Setup.new(model: model, workers: workers, threads: threads, keep_alive: keep_alive,
                                    port: port, app: "#{@directory}/config.ru", backlog: 512, env: {},
                                    log: "#{@directory}/#{port}.log")
  end

  def reason(name, model: nil, workers: 0, threads: 1, keep_alive: true, ruby: nil)
    setup = make(model, workers, threads, keep_alive).tap { |each| each.ruby = ruby }
    Cuttle::Lab::Servers::Peers.find(name).supports?(setup)
  end

  def proved(server, setting)
    server.proof.find { |each| each.setting == setting }.to_a.values_at(3, 1, 2)
  end

  def backlog(proofs)
    proofs.find { |each| each.setting == "backlog" }
  end

  def start(peer, setup) = Cuttle::Lab::Servers::Server.start(peer, setup)

  def assert_proved(peer, setup)
    server = start(peer, setup)
    assert_operator server.boot, :>, 0
    proofs = server.proof
    assert_includes proofs.map(&:setting), "port"
    assert_empty proofs.select { |each| each.proved == false }.map(&:to_a), server.output
    assert_equal peer.backlog(setup) ? [true] : [nil], [backlog(proofs).proved] if backlog(proofs).found
    pids = server.tree.pids
    server.stop
    assert_empty(pids.select { |pid| File.exist?("/proc/#{pid}") })
    refute server.running?
    TCPServer.open("127.0.0.1", setup.port, &:close)
  ensure
    server&.stop
  end
end
