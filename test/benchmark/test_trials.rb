# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/support/bench"

# The trials of benchmark/hostile, idle and overload, small, on this checkout.
class TestBenchmarkTrials < Minitest::Test
  ENVIRONMENT = Bench::Work.environment("0:2", 1000)
  # A trial takes almost the 10 s after which slow clients are ended.
  PATIENT = %w[--header-timeout 120 --min-rate 0].freeze
  Testbed = Struct.new(:services_cpu, :database_connections) do
    def load_options(_configuration, load, _cores)
      { connections: load.connections, keep_alive: true, timeout: 5 }
    end
  end

  def test_slow_clients_come_are_counted_and_go
    skip "gcc is not installed" unless Bench::Lab::Machine.program("gcc")

    run = run_trial(Bench::Hostility, "hostile", Bench::SlowClients.new("heads:8", "bodies:8", "readers:8:/300k"))
    assert_equal [24, 0], run["figures"].values_at("slow_held", "slow_closed")
    %w[slow_rate slow_rate_ratio slow_p99_ratio arrival_rate_ratio].each do |name|
      assert_operator run["figures"][name], :>, 0, name
    end
    assert_operator run["figures"]["slow_alone"], :<, 1
    assert_right run
  end

  def test_idle_clients_come_are_counted_and_go
    skip "gcc is not installed" unless Bench::Lab::Machine.program("gcc")

    run = run_trial(Bench::Idleness, "idle", Bench::SlowClients.new("stuck:50:/"))
    assert_equal 50, run["figures"]["idle"]
    assert_operator run["figures"]["idle_bytes"], :<, 100_000
    %w[idle_rate idle_rate_ratio idle_p99_ratio].each { |name| assert_operator run["figures"][name], :>, 0, name }
    assert_right run
  end

  def test_more_than_the_capacity_is_offered
    run = run_trial(Bench::Overload, "work", 3, 2)
    assert_operator run["rate"], :<, 1000 # 2 threads that wait 2 ms
    figures = run["figures"]
    assert_operator figures["offered"], :>, run["rate"] * 2
    assert_operator figures["goodput"], :>, 0
    assert_operator figures["accepted_p99"], :>=, figures["accepted_p50"]
    assert_equal 0, figures["shed"]
    assert_nil Cuttle::Lab::Results::Shape.damage(run)
  end

  private

  # What that trial says of Cuttle, as its run is written.
  def run_trial(kind, app, *arguments)
    peer = Bench::Checkout.new("trial", Bench::ROOT, ["-t", "2:2", *PATIENT])
    cores = Bench.cores
    plan = Cuttle::Lab::Plan::Declared.new([]).plan(seed: 1, rounds: 1, duration: 1, warmup: 0.2)
    load = Cuttle::Lab::Results::LoadSpec.new("connections" => 4, "octets" => 13)
    generate = ->(url, **options) { Cuttle::Load.run(url, **options.except(:tester)) }
    run = Bench.serve(peer, cores.server, app: Bench.app(app), env: ENVIRONMENT, keep_alive: true) do |server|
      trial = Bench::Trial.new("small", kind, arguments)
      trial.call(server: server, load: load, testbed: Testbed.new(0.0), plan: plan, cores: cores, generator: generate,
                 speed: Cuttle::Lab::Machine::CoreSpeed.new(cores, look: ->(_core) {}))
           .run(nil, Cuttle::Lab::Network::Routes::Route.new(server.url))
    end
    JSON.parse(JSON.generate("configuration" => "c1", "load" => "l1", "block" => 0, **run))
  end

  def assert_right(run)
    assert_equal [true, 0], [run["valid"], run["errors"].values.sum], run["reasons"].to_s
    assert_nil Cuttle::Lab::Results::Shape.damage(run)
  end
end
