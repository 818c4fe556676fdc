# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/support/steady"
require_relative "../../benchmark/support/waits"

# The trials of benchmark/hostile, idle, overload, waits and blocking, small, on this checkout.
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
    %w[idle_rate idle_rate_ratio idle_p99_ratio fresh_p99 burst_p99_ratio].each do |name|
      assert_operator run["figures"][name], :>, 0, name
    end
    p99, fresh, change = run["ms"]["p99"], *run["figures"].values_at("fresh_p99", "burst_p99_ratio")
    assert_in_delta p99 / fresh, change, 1e-6
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

  def test_a_wait_is_what_requests_with_waits_cost_more
    answers = Bench::Answers.start
    run = run_trial(Bench::Waits, "waits", path: "/socket", flags: %w[--engine fibers], env: answers.environment)
    assert_operator run["figures"]["wait_cpu"], :>, 0
    assert_operator run["figures"]["wait_cpu"], :<, run["server"]["cpu_us"] / Bench::Waits::COUNT
    assert_right run
  ensure
    answers&.stop
  end

  def test_the_rate_after_the_first_seconds
    run = run_trial(Bench::Steady, "work", 1, duration: 3)
    late = run["windows"].reject { |window| window["from"] < 1 }
    assert_operator late.length, :<, run["windows"].length
    assert_in_delta late.sum { |window| window["rate"] } / late.length, run["rate"], 0.1 * run["rate"]
    assert_right run
    error = assert_raises(Cuttle::Lab::Failure) { run_trial(Bench::Steady, "work", 5) }
    assert_equal "give more than 5 seconds", error.message
  end

  private

  # What that trial says of Cuttle, as its run is written.
  def run_trial(kind, app, *arguments, path: nil, flags: %w[-t 2:2], env: ENVIRONMENT, duration: 1)
    peer = Bench::Checkout.new("trial", Bench::ROOT, [*flags, *PATIENT])
    cores = Bench.cores
    plan = Cuttle::Lab::Plan::Declared.new([]).plan(seed: 1, rounds: 1, duration: duration, warmup: 0.2)
    load = Cuttle::Lab::Results::LoadSpec.new("connections" => 4, "octets" => 13, "path" => path)
    generate = ->(url, **options) { Cuttle::Load.run(url, **options.except(:tester)) }
    run = Bench.serve(peer, cores.server, app: Bench.app(app), env: env, keep_alive: true) do |server|
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
