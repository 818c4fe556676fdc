# frozen_string_literal: true

require "test_helper"
require "net/http"

# What a server of a lab finds when it starts.
class TestStage < Minitest::Test
  include Eventually
  include TemporaryDirectory

  # Remembers in a file that it was made again what it was.
  class Remembering < Cuttle::Lab::Apps::App
    def reset(services)
      File.write("#{directory}/resets", "#{services.keys.sort} ", mode: "a")
    end

    def environment_for(fibers:)
      super.merge("FIBERS" => fibers.to_s)
    end
  end

  APP = <<~'RUBY'
    told = "#{ENV.values_at("FIBERS", "RAILS_MAX_THREADS").inspect} #{File.read("resets")}"
    run ->(_env) { [200, { "content-type" => "text/plain" }, [told]] }
  RUBY

  def setup
    File.write("#{@directory}/config.ru", APP)
  end

  def test_an_app_is_what_it_was_at_every_start
    testbed("hybrid") do |testbed, configuration|
      assert_equal '["false", "3"] [] ', answer(testbed, configuration)
      assert_equal '["false", "3"] [] [] ', answer(testbed, configuration)
    end
  end

  # As many connections to a database as there may be requests in a process; where nothing bounds them, the app decides.
  def test_the_environment_has_only_a_number_of_threads
    testbed("fibers") { |testbed, configuration| assert_equal '["false", nil] [] ', answer(testbed, configuration) }
  end

  def test_a_load_may_close_connections_that_a_server_keeps
    testbed("hybrid") do |testbed, configuration|
      configuration = configuration.class.new(configuration.to_h.merge("keep_alive" => true))
      said = [nil, false, true].map do |keep_alive|
        load = Cuttle::Lab::Results::LoadSpec.new("connections" => 1, "keep_alive" => keep_alive)
        testbed.load_options(configuration, load, Cuttle::Lab::Machine::Cores.new)[:keep_alive]
      end
      assert_equal [true, false, true], said
    end
  end

  # Each by its own; and what stands between is not the server's.
  def test_a_load_has_the_network_that_it_asks_for
    fast, slow, far = asking({}), asking("delay" => 0.1), asking("delay" => 0.1, "bandwidth" => 50_000)
    testbed("hybrid") do |testbed, configuration|
      testbed.serve(configuration, [fast, slow, far, asking("delay" => 0.1)]) do |server, routes|
        assert_nil routes.to(fast).relay
        assert_equal "http://127.0.0.1:#{server.port}/", routes.to(fast).url
        relays = [slow, far, asking("delay" => 0.1)].map { |each| routes.to(each).relay.pid }
        assert_equal 2, relays.uniq.length
        assert_equal relays.first, relays.last
        assert_empty relays & server.tree.pids
        assert_operator elapsed { Net::HTTP.get(URI(routes.to(slow).url)) }, :>=, 0.4
        assert_operator routes.to(slow).cpu_seconds, :>, 0
        assert_equal 0, routes.to(fast).cpu_seconds
      end
    end
  end

  # A service's processes are the app's, and no strangers; so is what they have started.
  def test_what_the_services_cost_is_known
    service = Struct.new(:pid, :stop).new(Process.spawn("sh", "-c", "(yes >/dev/null) & wait", pgroup: true))
    testbed("hybrid") do |testbed, _|
      assert_equal 0, testbed.services_cpu
      testbed.services["busy"] = service
      assert eventually { testbed.services_cpu > 0.05 }
      testbed.services.clear
    end
  ensure
    Process.kill("KILL", -service.pid)
    Process.wait(service.pid)
  end

  def test_a_server_that_starts_is_waited_for_no_longer_than_the_lab_wants
    app = Remembering.new(name: "app.ru", rackup: "#{@directory}/config.ru")
    options = Cuttle::Lab::Options.new(app: app.rackup, engines: %w[hybrid], rounds: 1)
    given = nil
    start = lambda do |_peer, _setup, give_up:|
      given = give_up.call
      raise Cuttle::Lab::Failure, "interrupted"
    end
    Cuttle::Lab::Servers::Server.stub(:start, start) do
      Cuttle::Lab::Runner::Testbed.open(app, options, Cuttle::Lab::Machine::Cores.new, give_up: -> { :asked }) do |bed|
        configuration = Cuttle::Lab::Plan.build(options, peers: bed.peers).configurations.first
        assert_raises(Cuttle::Lab::Failure) { bed.serve(configuration, [asking({})]) }
      end
    end
    assert_equal :asked, given
  end

  def test_relays_end_with_the_server
    relay = nil
    testbed("hybrid") do |testbed, configuration|
      slow = asking("delay" => 0.01)
      testbed.serve(configuration, [slow]) { |_server, routes| relay = routes.to(slow).relay }
    end
    refute_predicate relay, :running?
  end

  private

  def asking(hash)
    Cuttle::Lab::Results::LoadSpec.new({ "id" => "l1", "connections" => 1 }.merge(hash))
  end

  def testbed(engine)
    app = Remembering.new(name: "app.ru", rackup: "#{@directory}/config.ru")
    options = Cuttle::Lab::Options.new(app: app.rackup, engines: [engine], workers: [0], threads: [3], rounds: 1)
    Cuttle::Lab::Runner::Testbed.open(app, options, Cuttle::Lab::Machine::Cores.new) do |testbed|
      yield testbed, Cuttle::Lab::Plan.build(options, peers: testbed.peers).configurations.first
    end
  end

  def answer(testbed, configuration)
    any = asking({})
    testbed.serve(configuration, [any]) { |_server, routes| Net::HTTP.get(URI(routes.to(any).url)) }
  end
end
