# frozen_string_literal: true

require "test_helper"

# What follows from runs under load, with readings that no machine has disturbed.
class TestProfilerCosts < Minitest::Test
  Profiler = Cuttle::Tuner::Profiler
  Reading = Profiler::Reading
  Setting = Cuttle::Tuner::Setting

  # As Runs is once its runs are made: one core for the servers, two with the load's.
  class Made
    attr_reader :readings, :threads

    def initialize(threads, **readings)
      @threads = threads
      @readings = readings
    end

    def solo = Setting.new(workers: 1, threads: 1)
    def many(workers = 1) = Setting.new(workers: workers, threads: threads)
    def cores = [0]
    def wide_cores = [0, 1]
    def narrow_cores = [0]
    def alone = { "hybrid" => readings[:solo], "fibers" => readings[:fibers] }.compact

    def reading(setting, on = cores)
      return readings[{ 1 => :solo }.fetch(setting.threads, setting.workers == 2 ? :crowd : :many)] if on == cores

      readings[{ 1 => :one, 2 => :two }[setting.workers]]
    end
  end

  # Of an app that computes for 5 ms.
  class Samples
    def initialize(deviation) = @deviation = deviation
    def mean(_kind) = 0.005
    def deviation(_kind) = @deviation
    def error(_kind) = @deviation / 100
  end

  def setup
    @said = []
  end

  def test_an_overhead_is_what_the_app_does_not_explain
    assert_equal({ "hybrid" => 5e-05 }, costs(solo: reading(cpu: 0.00505, app_cpu: 0.005)).overheads)
    assert_nil costs.overheads
  end

  def test_an_engine_without_a_ledger_is_compared_with_the_app
    fibers = reading(cpu: 0.0052, app_cpu: nil, app: nil)
    solo = reading(cpu: 0.00505, app_cpu: 0.005)
    assert_in_delta 0.0002, costs(solo: solo, fibers: fibers).overheads["fibers"], 1e-9
    assert_empty @said
    hidden = costs(solo: solo, fibers: fibers, deviation: 0.01)
    assert_in_delta 0.00005, hidden.overheads["fibers"], 1e-9
    assert_match(/fibers: .*hides/, @said.last)
  end

  # Requests that wait leave the processor to get cold.
  def test_a_busy_process_needs_less_cpu_time_than_an_idle_one
    solo = reading(cpu: 0.0051, app_cpu: 0.005, app: 0.025, rate: 40)
    many = reading(cpu: 0.00405, app_cpu: 0.004, app: 0.025, rate: 200)
    fibers = reading(cpu: 0.0041, app_cpu: nil, app: nil)
    found = costs(solo: solo, many: many, fibers: fibers)
    assert_equal 0.8, found.warmth
    assert_equal({ "hybrid" => 0.00005, "fibers" => 0.0001 }, found.overheads)
    assert_equal 0.0, found.contention
    assert_equal 1.0, costs(solo: solo, many: many, deviation: 0.1).warmth
    assert_equal 1.0, costs(solo: solo).warmth
  end

  def test_the_price_of_the_gvl_is_for_each_further_thread
    solo = reading(cpu: 0.00505, app_cpu: 0.005, app: 0.005, rate: 200)
    many = reading(cpu: 0.00513, app_cpu: 0.00504, app: 0.025, rate: 200)
    assert_in_delta 0.00008 / 4, costs(solo: solo, many: many).contention, 1e-9
    assert_in_delta 0.00004 / 4, costs(solo: solo, many: many, deviation: 0.01).contention, 1e-9 # the rest is chance
    assert_nil costs(solo: solo).contention
    assert_nil costs(solo: solo, many: reading(app: 0.005, rate: 200)).contention # no thread was busy beside another
  end

  def test_processes_slow_each_other_down
    one, two = reading(cpu: 0.005), reading(cpu: 0.006)
    assert_equal [[1, 1.0], [2, 0.8333]], costs(one: one, two: two).scaling
    assert_equal [[1, 1.0], [2, 1.0]], costs(one: one, two: two, deviation: 0.05).scaling
    assert_equal [[1, 1.0]], costs(one: one).scaling
    assert_nil costs.scaling
  end

  def test_processes_that_share_a_core_lose_time
    many, crowd = reading(cpu: 0.005), reading(cpu: 0.0055)
    assert_equal 1.1, costs(many: many, crowd: crowd).sharing
    assert_equal 1.0, costs(many: many, crowd: crowd, deviation: 0.05).sharing
    assert_nil costs(many: many).sharing
    assert_nil costs(crowd: crowd).sharing
  end

  def test_memory_and_connections_are_solved_from_three_totals
    made = { solo: reading(pss: 70, databases: 1), one: reading(pss: 90, databases: 5),
             two: reading(pss: 150, databases: 10) }
    assert_equal({ "base" => 30, "worker" => 40, "thread" => 5 }, costs(**made).memory)
    assert_equal({ "process" => 0.0, "thread" => 1.0 }, costs(**made).connections)
    assert_equal({ "thread" => 5 }, costs(**made.except(:two)).memory)
    assert_nil costs(solo: made[:solo]).memory
    assert_nil costs(**made.transform_values { |each| reading(pss: each.pss, databases: nil) }).connections
  end

  # Sequel's is four, whatever the number of threads. The app of these samples waits for 5 ms.
  def test_a_pool_of_connections_is_a_step
    made = { solo: reading(databases: 1), one: reading(databases: 4, cores: 0.5, rate: 800),
             two: reading(databases: 8) }
    pool = { "process" => 0, "thread" => 1.0, "most" => 4, "full" => true }
    found = ->(**changed) { costs(threads: 16, **made, **changed).connections }
    assert_equal pool, found[]
    assert_equal pool, found[two: nil]
    assert_equal pool, found[two: reading(databases: 5)], "the second worker was idle"
    assert_equal({ **pool, "process" => 1, "most" => 5 }, found[two: reading(databases: 9)])
    [{ cores: 1.0, rate: 800 }, { cores: 0.5, rate: 1000 }].each do |other_limit|
      assert_equal({ **pool, "full" => false }, found[one: reading(databases: 4, **other_limit)])
    end
  end

  def test_a_process_alone_has_all_pages_that_a_worker_shares
    made = { solo: reading(pss: 70, rss: 60), one: reading(pss: 90, rss: 80), two: reading(pss: 150) }
    assert_equal 60, costs(**made).memory["alone"]
  end

  # The run of one worker with several threads had garbage left.
  def test_a_worker_costs_at_least_as_much_memory_as_a_thread
    made = { solo: reading(pss: 70), one: reading(pss: 110), two: reading(pss: 120) }
    assert_equal({ "base" => 60, "worker" => 10, "thread" => 10 }, costs(**made).memory)
  end

  def test_a_process_that_uses_more_than_a_core_computes_without_the_gvl
    assert_in_delta 0.375, costs(one: reading(cores: 1.6)).unlocked
    assert_equal 0.0, costs(one: reading(cores: 1.0)).unlocked
    assert_empty @said
    assert_equal 0.0, costs(one: reading(cores: 0.5)).unlocked
    assert_match(/not looked for/, @said.last)
  end

  private

  def reading(**figures)
    Reading.new(cpu: 0.005, app_cpu: 0.005, app: 0.005, rate: 200, responses: 10_000, cores: 1.0, pss: 1, **figures)
  end

  def costs(deviation: 0.0005, threads: 5, **readings)
    Profiler::Costs.new(Made.new(threads, **readings), Samples.new(deviation), warn: @said.method(:push))
  end
end
