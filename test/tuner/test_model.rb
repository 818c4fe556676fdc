# frozen_string_literal: true

require "test_helper"
require_relative "support/kept_runs"

# The model against what queueing theory knows exactly, and against each of its own rules.
class TestModel < Minitest::Test
  include Cuttle::Tuner

  MACHINE = { "cores" => 2, "server_cores" => [0, 1] }.freeze

  # A fifth of the usual events is enough for the bounds below.
  EVENTS = Model::EVENTS / 5

  def run = KeptRuns.in_short(EVENTS: EVENTS) { super }

  # -- known formulas

  # M/M/1: response times are exponential, with the mean s / (1 - rate s).
  def test_one_process_with_exponential_times_is_an_m_m_1_queue
    mean = 0.01 / (1 - 0.7)
    forecast = forecast("single", Demand.open(70.0), cpu: exponential(0.01))
    assert_in_delta 70, forecast.rate, 1.5
    { p50: 0.5, p95: 0.05, p99: 0.01 }.each { |name, share| assert_about(-Math.log(share) * mean, forecast[name], 0.1) }
    assert_about 0.7, forecast.cpu, 0.03
  end

  # M/D/1: the mean waiting time is half of that with exponential times.
  def test_even_times_halve_the_waiting
    times = simulate("single", Demand.open(80.0), cpu: 0.01).times
    assert_about 0.01 * (1 + (0.8 / 2 / (1 - 0.8))), times.sum / times.length, 0.05
  end

  # A closed network of exponential stations, solved exactly by mean value analysis.
  def test_threads_are_a_closed_network
    [1, 2, 5, 10].each do |threads|
      rate = forecast("hybrid", Demand.closed(threads), threads: threads, cpu: exponential(0.01),
                                                        wait: exponential(0.04)).rate
      assert_about closed_network(threads, 0.01, 0.04), rate, 0.04, "#{threads} threads"
    end
  end

  def test_capacity_agrees_with_the_simulation
    errors = grid.map do |setting, entry, cores|
      model = model(**entry)
      played = model.forecast(setting, Demand.closed(setting.processes * setting.slots), cores: cores).rate
      ((model.capacity(setting, cores: cores).first / played) - 1).abs
    end
    assert_operator errors.sort[errors.length / 2], :<, 0.01
    assert_operator errors.max, :<, 0.1
  end

  # -- what limits

  def test_slots_limit_an_app_that_waits
    assert_limit :slots, 8 / 0.11, "hybrid", workers: 2, threads: 4, cpu: 0.01, wait: 0.1
    assert_limit :slots, 4 / 0.11, "single", workers: 4, cpu: 0.01, wait: 0.1
    assert_limit :slots, 4 / 0.11, "reactor", workers: 4, cpu: 0.01, wait: 0.1
  end

  def test_the_gvl_limits_one_process
    assert_limit :gvl, 100, "hybrid", threads: 16, cpu: 0.01, wait: 0.02
    assert_limit :gvl, 100, "fibers", cpu: 0.01, wait: 0.02
    assert_limit :gvl, 125, "hybrid", threads: 16, cpu: 0.01, wait: 0.02, unlocked: 0.2
  end

  def test_cores_limit_many_processes
    assert_limit :cores, 200, "single", workers: 8, cpu: 0.01
    assert_limit :cores, 200, "hybrid", workers: 2, threads: 16, cpu: 0.01, wait: 0.02
    assert_limit :cores, 180, "single", workers: 8, cpu: 0.01, scaling: [[1, 1.0], [2, 0.9]]
    assert_limit :cores, 160, "single", workers: 8, cpu: 0.01, overheads: { "single" => 0.0025 }
  end

  def test_processes_lose_time_only_if_they_share_cores
    shared = { cpu: 0.01, sharing: 1.25 }
    assert_about 160, capacity("single", workers: 8, **shared), 0.001
    assert_about 200, capacity("single", workers: 2, **shared), 0.001
    assert_about 160, forecast("single", Demand.closed(16), workers: 8, **shared).rate, 0.01
    open = ->(**more) { forecast("single", Demand.open(150), workers: 8, cpu: 0.01, **more) }
    assert_operator open[sharing: 1.25].p95, :>, 1.2 * open[].p95
  end

  def test_ractors_have_a_gvl_each
    assert_limit :cores, 200, "ractors", workers: 2, threads: 4, cpu: 0.01, wait: 0.01
  end

  def test_a_pool_of_connections_limits_what_waits
    assert_limit :connections, 3 / 0.1, "hybrid", threads: 16, cpu: 0.001, wait: 0.1,
                                                  connections: { "process" => 3, "thread" => 0 }
    assert_limit :slots, 16 / 0.101, "hybrid", threads: 16, cpu: 0.001, wait: 0.1,
                                               connections: { "process" => 1, "thread" => 1 }
  end

  # It need not be a limit: the app may have needed no more connections at once.
  def test_a_pool_that_limited_the_profiles_run_limits_what_waits
    app = { threads: 16, cpu: 0.001, wait: 0.1 }
    pool = { "process" => 0, "thread" => 1.0, "most" => 4, "full" => true }
    assert_limit :connections, 4 / 0.1, "hybrid", **app, connections: pool
    assert_limit :slots, 16 / 0.101, "hybrid", **app, connections: { **pool, "full" => false }
  end

  def test_a_closed_loop_with_few_connections_is_its_own_limit
    assert_equal :demand, forecast("hybrid", Demand.closed(3), threads: 16, cpu: 0.001, wait: 0.1).limit
    assert_equal :gvl, forecast("hybrid", Demand.closed(3), threads: 3, cpu: 0.1, wait: 0.01).limit
  end

  # Each request in the app makes the others dearer. Hybrid has no more of them there than keep the GVL busy.
  def test_busy_threads_cost_what_the_profile_says
    facts = { threads: 8, cpu: 0.01, contention: 0.001 }
    assert_limit :gvl, 1 / 0.017, "threads", **facts
    assert_limit :gvl, 100, "hybrid", **facts
    assert_operator capacity("hybrid", **facts, wait: 0.02), :<, 90
    assert_limit :cores, 100, "fibers", cores: 1, cpu: 0.01, wait: 0.02, contention: 0.001
  end

  # The probability that none of many workers computes is tiny, even if each of them mostly waits.
  def test_a_core_serves_no_less_with_more_workers
    numbers = [1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128]
    [1, 4].product([0.0005, 0.002, 0.01], [0.0, 0.005, 0.05, 0.2], [1, 5]) do |cores, cpu, wait, threads|
      model = model(cpu: cpu, wait: wait)
      rates = numbers.map { |workers| model.capacity(Setting.new(workers: workers, threads: threads), cores: cores)[0] }
      rates.each_cons(2) { |fewer, more| assert_operator more, :>=, fewer * (1 - 1e-6), [cores, cpu, wait, threads] }
    end
    { 40 => 0.9635, 48 => 0.9788 }.each do |workers, share|
      assert_about share / 0.002, capacity("single", cores: 1, workers: workers, cpu: 0.002, wait: 0.05), 0.001
    end
  end

  # -- threads auto

  def test_threads_auto_are_the_fewest_that_keep_the_gvl_busy
    { [0.01, 0.05] => 6, [0.01, 0.0] => 3, [0.0001, 0.02] => 64 }.each do |(cpu, wait), threads|
      assert_equal threads, auto(cpu: cpu, wait: wait, max_threads: 64).stand_in.threads
    end
    uneven = auto(cpu: exponential(0.01), wait: exponential(0.05), max_threads: 64)
    assert_operator uneven.stand_in.threads, :>, 6, "requests meet"
    seldom = auto(cpu: 0.01, wait: 0.05, max_threads: 64, demand: Demand.open(20.0))
    assert_equal 6, seldom.stand_in.threads, "at any rate"
  end

  # Two cores have nothing left to do.
  def test_threads_auto_are_no_more_than_keep_the_cores_busy
    assert_equal 5, auto(workers: 4, cpu: 0.01, wait: 0.07).stand_in.threads
    assert_equal 4, auto(cpu: 0.01, wait: 0.01, unlocked: 1.0, max_threads: 64).stand_in.threads
  end

  def test_threads_auto_have_a_limit
    limited = auto(cpu: 0.01, wait: 0.04, max_threads: 3)
    assert_equal [Setting.new(threads: 3), :slots], [limited.stand_in, limited.limit]
    assert_about 60, limited.capacity, 0.01
    assert_equal 5, auto(cpu: 0.01, wait: 0.2).stand_in.threads, "without a database pool"
    held = { "process" => 0, "thread" => 1 }
    assert_operator auto(cpu: 0.01, wait: 0.2, connections: held).stand_in.threads, :>, 5, "the pool is unknown"
  end

  # But for the connections, which it may come to hold.
  def test_threads_auto_are_forecast_as_that_number
    facts = { cpu: 0.01, wait: 0.04, connections: { "process" => 1, "thread" => 1 },
              memory: { "base" => 50_000_000, "worker" => 30_000_000, "thread" => 1_000_000 } }
    auto = auto(demand: Demand.open(60.0), **facts)
    number = forecast("hybrid", Demand.open(60.0), threads: 5, **facts)
    told = %i[setting stand_in connections]
    assert_equal number.to_h.except(*told), auto.to_h.except(*told)
    assert_equal [Setting.new(threads: "auto"), number.setting, 65], auto.to_h.values_at(*told)
    assert_equal [nil, 6], number.to_h.values_at(:stand_in, :connections)
  end

  # -- the rules of engines

  # Ten requests of 50 ms in two pieces, five of them computing: no piece takes as long as the quantum. Up to Ruby 3.2
  # one in ten of a second's is interrupted nevertheless, and comes after four others.
  def test_a_clock_of_the_process_interrupts_whichever_request_computes
    app = { threads: 16, cpu: 0.05, wait: 0.25, demand: Demand.closed(10) }
    own, shared = %w[3.3.0 3.2.9].map { |ruby| under(ruby, "hybrid", **app) }
    assert_about 0.5, own.p95, 0.03
    assert_about 0.5 + (0.6 * 0.25), shared.p95, 0.1
    assert_about own.rate, shared.rate, 0.02
  end

  # Threads that find the GVL free stop the clock, so a process with time to spare is hardly ever interrupted.
  def test_the_clock_of_the_process_rests_when_no_thread_waits
    app = { threads: 5, cpu: 0.005, wait: 0.02, demand: Demand.open(100.0) }
    own, shared = %w[4.0.0 3.1.2].map { |ruby| under(ruby, "hybrid", **app) }
    assert_about own.p99, shared.p99, 0.02
  end

  # A request of a second beside many short ones: threads are preempted, fibers hold all others up.
  def test_a_computing_fiber_blocks_the_others_and_a_computing_thread_does_not
    entries = [{ name: "short", cpu: 0.001, wait: 0.01, weight: 199 }, { name: "long", cpu: 1.0, wait: 0, weight: 1 }]
    times = %w[fibers threads].to_h do |engine|
      [engine, forecast(engine, Demand.open(20.0), threads: 32, entries: entries).p95]
    end
    assert_operator times["fibers"], :>, 2 * times["threads"]
  end

  # Each wait is followed by a queue for the GVL: behind requests that compute for long, many waits take long.
  def test_requests_that_wait_often_suffer_from_those_that_compute
    p95 = [1, 10].map do |waits|
      entries = [{ name: "page", cpu: 0.002, wait: 0.05, waits: waits },
                 { name: "report", cpu: 0.05, wait: 0, weight: 0.05 }]
      forecast("hybrid", Demand.open(60.0), threads: 16, entries: entries).p95
    end
    assert_operator p95.last, :>, 1.2 * p95.first
  end

  # A thread that blocks in accept takes a request although another one has the GVL, and a worker is free.
  def test_hybrid_takes_requests_only_when_the_gvl_is_free
    queue = %w[hybrid threads].to_h do |engine|
      [engine, forecast(engine, Demand.open(80.0), threads: 16, cpu: 0.01).queue_p99]
    end
    assert_operator queue["hybrid"], :>, 0.01
    assert_operator queue["threads"], :<, 0.001
  end

  def test_a_queue_for_slots_is_seen
    assert_operator forecast("single", Demand.open(9.0), cpu: 0.001, wait: 0.1).queue_p99, :>, 0.1
    assert_equal 0.0, forecast("fibers", Demand.open(9.0), cpu: 0.0, wait: 0.1).queue_p99
  end

  # -- the forecast

  def test_the_same_arguments_give_the_same_forecast
    one, two = Array.new(2) do
      forecast("hybrid", Demand.open(90.0), workers: 2, threads: 5, cpu: exponential(0.01), wait: exponential(0.03))
    end
    assert_equal one, two
  end

  # What differs in its corrections of response times only is not simulated again; any other profile is.
  def test_models_share_their_simulations
    runs = {}
    demand = Demand.open(50.0)
    forecast("hybrid", demand, **BUSY, runs: runs)
    again = { **BUSY, corrections: verified(p95: 0.9) }
    expected = forecast("hybrid", demand, **again)
    refute_simulated { assert_equal expected, forecast("hybrid", demand, **again, runs: runs) }
    other = forecast("hybrid", demand, **BUSY, wait: 0.008, runs: runs)
    assert_equal forecast("hybrid", demand, **BUSY, wait: 0.008), other
    assert_equal 2, runs.length
  end

  def test_more_than_can_be_served_waits_without_end
    forecast = forecast("hybrid", Demand.open(120.0), threads: 5, cpu: 0.01, wait: 0.01)
    assert_equal [Float::INFINITY] * 4, forecast.to_h.values_at(:p50, :p95, :p99, :queue_p99)
    assert_about 100, forecast.rate, 0.01
    assert_about 1.0, forecast.cpu, 0.01
  end

  def test_memory_and_connections_follow_from_the_setting
    facts = { memory: { "base" => 50_000_000, "worker" => 30_000_000, "thread" => 1_000_000 },
              connections: { "process" => 1, "thread" => 1 } }
    forecast = forecast("hybrid", Demand.closed(1), workers: 3, threads: 5, cpu: 0.001, **facts)
    assert_equal [152_000_000, 18], forecast.to_h.values_at(:memory, :connections)
    assert_equal [nil, nil], forecast("single", Demand.closed(1), cpu: 0.001).to_h.values_at(:memory, :connections)
    facts[:memory]["alone"] = 40_000_000
    assert_equal 44_000_000, forecast("hybrid", Demand.closed(1), threads: 5, cpu: 0.001, **facts).memory
    assert_equal 152_000_000, forecast("hybrid", Demand.closed(1), workers: 3, threads: 5, cpu: 0.001, **facts).memory
  end

  # Four workers hold four each, however many threads they have beyond that.
  def test_a_process_holds_no_more_connections_than_its_pool_has
    pool = { "process" => 0, "thread" => 1.0, "most" => 4, "full" => true }
    { 2 => 8, 4 => 16, 16 => 16, "auto" => 16 }.each do |threads, connections|
      forecast = forecast("hybrid", Demand.closed(1), workers: 4, threads: threads, cpu: 0.001, connections: pool)
      assert_equal connections, forecast.connections
    end
    assert_equal 4, forecast("fibers", Demand.closed(7), cpu: 0.001, wait: 0.1, connections: pool).connections
    open = pool.merge("full" => false) # it may open more if a slower database keeps more requests waiting
    assert_equal 64, forecast("hybrid", Demand.closed(1), workers: 4, threads: 16, cpu: 0.001,
                                                          connections: open).connections
  end

  HELD = { "process" => 0, "thread" => 1 }.freeze

  # As for -t auto, it is the most that they may come to hold, and not what they hold at that demand.
  def test_fibers_may_hold_a_connection_for_each_request
    assert_equal 1024, forecast("fibers", Demand.closed(7), cpu: 0.001, wait: 0.1, connections: HELD).connections
  end

  # Of two workers with five connections each, both serve ten requests at once.
  def test_a_limit_of_connections_limits_fibers_as_it_limits_threads
    app = Profile.new(entries: [{ name: "all", cpu: 0.001, wait: 0.1 }], environment: MACHINE, connections: HELD)
    fibers, threads = %w[fibers hybrid].map { |engine| Setting.new(engine: engine, workers: 2, threads: 5) }
    runs = {}
    free, limited = [nil, 10].map { |limit| Model.new(app, connections: limit, runs: runs) }
    assert_operator free.capacity(fibers).first, :>, 10 * free.capacity(threads).first
    assert_about limited.capacity(threads).first, limited.capacity(fibers).first, 0.001
    assert_equal [10, 10], [fibers, threads].map { |each| limited.forecast(each, Demand.open(60.0)).connections }
    rates = [free, limited].map { |model| model.forecast(fibers, Demand.closed(100)).rate }
    assert_operator rates.first, :>, 5 * rates.last
  end

  def test_a_pool_that_keeps_the_limit_of_connections_needs_no_other
    pool = { "process" => 0, "thread" => 1.0, "most" => 4, "full" => true }
    app = Profile.new(entries: [{ name: "all", cpu: 0.001, wait: 0.1 }], connections: pool)
    fibers = Setting.new(engine: "fibers", workers: 2)
    assert_equal [nil, 3, 1], [8, 7, 1].map { |limit| Footprint.new(app, limit: limit).max_fibers(fibers) }
    assert_equal [8, 6, 2], [8, 7, 1].map { |limit| Footprint.new(app, limit: limit).connections(fibers) }
  end

  def test_more_cores_than_there_are_is_an_extrapolation
    arguments = { workers: 4, cpu: 0.01, scaling: [[1, 1.0], [2, 0.9]] }
    refute forecast("single", Demand.closed(8), cores: 2, **arguments).beyond
    beyond = forecast("single", Demand.closed(8), cores: 4, **arguments)
    assert beyond.beyond
    assert_about 400 / (1 + (3 * ((1 / 0.9) - 1))), beyond.rate, 0.01
  end

  def test_without_cores_it_takes_the_profiles
    profile = { workers: 4, cpu: 0.01, environment: { "cores" => 8, "server_cores" => [0, 1, 2] } }
    assert_about 300, capacity("single", cores: nil, **profile), 0.01
    refute forecast("single", Demand.closed(8), cores: nil, **profile).beyond
  end

  def test_an_engine_that_was_not_measured_costs_what_the_others_cost
    overheads = { "hybrid" => 0.002, "single" => 0.001 }
    assert_about 1 / 0.012, capacity("hybrid", cpu: 0.01, overheads: overheads), 0.001
    assert_about 1 / 0.0115, capacity("fibers", cpu: 0.01, overheads: overheads), 0.001
  end

  def test_entries_count_by_their_weights
    entries = [{ name: "a", cpu: 0.01, wait: 0, weight: 3 }, { name: "b", cpu: 0.03, wait: 0, weight: 1 }]
    assert_about 1 / 0.015, forecast("single", Demand.closed(2), entries: entries).rate, 0.02
  end

  # -- corrections

  def test_a_verified_setting_is_forecast_as_it_was_measured
    rate = forecast("hybrid", Demand.closed(20), corrections: verified(rate: 0.9, p95: 1.5), **BUSY).rate
    assert_about 90, rate, 0.01
    assert_about 90, capacity("hybrid", corrections: verified(rate: 0.9), **BUSY), 0.01
  end

  # A difference between settings is the model's, and not that one of them was measured.
  def test_all_settings_are_corrected_alike
    others = [["hybrid", 0, 5], ["hybrid", 0, 6], ["hybrid", 0, 20], ["hybrid", 2, 5], ["fibers", 0, nil]]
    before, after = [[], verified(rate: 0.81, p95: 2.0)].map do |list|
      model = model(**BUSY.except(:threads), corrections: list)
      others.map do |engine, workers, threads|
        setting = Setting.new(engine: engine, workers: workers, threads: threads)
        [model.capacity(setting).first, model.forecast(setting, Demand.closed(20)).p95]
      end
    end
    before.zip(after).each do |(capacity, p95), (corrected, longer)|
      assert_in_delta 0.81, corrected / capacity, 1e-9
      assert_in_delta 2.0, longer / p95, 1e-9
    end
  end

  # Engines differ as they were measured; one that was not is corrected as the base.
  def test_an_engine_that_was_verified_has_its_own_correction
    fibers = { "setting" => Setting.new(engine: "fibers").to_h, "demand" => { "connections" => 20, "rate" => nil },
               "forecast" => { "rate" => 100.0, "capacity" => 100.0 }, "measured" => { "rate" => 50.0 } }
    model = model(**BUSY.except(:threads), corrections: [*verified(rate: 0.9), fibers], base: Setting.new(threads: 5))
    { "hybrid" => 90, "fibers" => 50, "threads" => 90 }.each do |engine, rate|
      [16, 20].each do |threads|
        assert_about rate, model.capacity(Setting.new(engine: engine, threads: threads)).first, 0.01, engine
      end
    end
  end

  # The base's own; otherwise the mean of all.
  def test_the_base_is_forecast_as_it_was_measured
    corrections = verified(rate: 0.81) + verified(threads: 10, rate: 1.0)
    { 5 => 0.81, 10 => 1.0, 20 => 0.9, nil => 0.9 }.each do |threads, factor|
      base = Setting.new(threads: threads) if threads
      model = model(**BUSY.except(:threads), corrections: corrections, base: base)
      assert_about 100 * factor, model.capacity(Setting.new(threads: 16)).first, 0.01
    end
  end

  # Otherwise it was the loop that limited the rate.
  def test_only_a_full_loop_corrects_a_capacity
    { 97.0 => 0.9, 96.0 => 1.0 }.each do |rate, factor|
      full = verified(rate: 0.9).each { |each| each["forecast"] = { "rate" => rate, "capacity" => 100.0 } }
      full.each { |each| each["measured"] = { "rate" => rate * 0.9 } }
      assert_about 100 * factor, capacity("hybrid", corrections: full, **BUSY), 0.01
    end
  end

  def test_corrections_are_for_their_kind_of_demand
    corrections = verified(p95: 3.0)
    open, corrected = [[], corrections].map { |list| forecast("hybrid", Demand.open(20.0), corrections: list, **BUSY) }
    assert_equal open.p95, corrected.p95
  end

  # With more capacity than predicted, a rate beyond the prediction is served; with less, the queues are longer.
  def test_an_open_loop_is_simulated_as_busy_as_its_capacity_says
    { 1.15 => 107.0, 0.8 => 60.0 }.each do |factor, rate|
      corrected = forecast("hybrid", Demand.open(rate), corrections: verified(rate: factor), **BUSY)
      plain = forecast("hybrid", Demand.open(rate / factor), **BUSY)
      times = %i[p50 p95 p99 queue_p99 cpu]
      assert_equal plain.to_h.slice(*times), corrected.to_h.slice(*times)
      assert_about rate, corrected.rate, 0.02
    end
  end

  # Their forecasts of open loops were made at the rate itself.
  def test_corrections_of_earlier_versions_leave_open_loops_alone
    earlier = verified(rate: 0.8).each { |each| each["forecast"].delete("scaled") }
    plain, corrected = [[], earlier].map { |list| forecast("hybrid", Demand.open(60.0), corrections: list, **BUSY) }
    assert_equal plain.p95, corrected.p95
  end

  def test_what_was_not_measured_is_not_corrected
    corrections = [{ setting: { engine: "hybrid", workers: 0, threads: 5 }, demand: { connections: 20, rate: nil },
                     forecast: { rate: 100.0, p95: Float::INFINITY }, measured: { rate: nil, p95: 0.2 } }]
    assert_about 100, capacity("hybrid", corrections: corrections, **BUSY), 0.01
  end

  # They compute for most of the time here.
  def test_kinds_of_less_than_a_thousandth
    entries = [{ name: "often", cpu: 0.005, wait: 0, weight: 0.9996 },
               { name: "rare", cpu: 10.0, wait: 0, weight: 0.0004 }]
    work = Model::Work.new(Profile.new(entries: entries), "single")
    draws = work.draws(Random.new(1))
    rare = Array.new(100_000) { draws.call.locked }.count { |seconds| seconds > 1 }
    assert_in_delta 40, rare, 15
  end

  private

  BUSY = { threads: 5, cpu: 0.01, wait: 0.005 }.freeze
  private_constant :BUSY

  # Corrections of a setting in a closed loop: measured / forecast.
  def verified(threads: 5, **ratios)
    [{ "setting" => { "engine" => "hybrid", "workers" => 0, "threads" => threads },
       "demand" => { "connections" => 20, "rate" => nil },
       "forecast" => { **ratios.to_h { |name, _| [name.to_s, 100.0] }, "scaled" => true },
       "measured" => ratios.to_h { |name, ratio| [name.to_s, ratio * 100.0] } }]
  end

  def refute_simulated(&)
    Model::Simulation.stub(:new, ->(**) { flunk "it was simulated" }, &)
  end

  def assert_about(expected, actual, share, message = nil)
    assert_in_delta expected, actual, expected * share, message
  end

  # By arithmetic and by the simulation.
  def assert_limit(limit, rate, engine, cores: 2, **arguments)
    model, setting = parts(engine, **arguments)
    found, by = model.capacity(setting, cores: cores)
    assert_equal limit, by
    assert_about rate, found, 0.01
    assert_about rate, model.forecast(setting, Demand.closed(200), cores: cores).rate, 0.03
  end

  def forecast(engine, demand, cores: 2, **arguments)
    model, setting = parts(engine, **arguments)
    model.forecast(setting, demand, cores: cores)
  end

  # A forecast for servers under that Ruby.
  def under(ruby, engine, demand:, **arguments)
    model, setting = parts(engine, **arguments, environment: { **MACHINE, "server_ruby" => ruby })
    model.forecast(setting, demand)
  end

  # A forecast for two cores.
  def auto(workers: 0, max_threads: nil, demand: Demand.closed(100), **arguments)
    setting = Setting.new(workers: workers, threads: "auto", max_threads: max_threads)
    model(**arguments).forecast(setting, demand, cores: 2)
  end

  def capacity(engine, cores: 2, **arguments)
    model, setting = parts(engine, **arguments)
    model.capacity(setting, cores: cores).first
  end

  def parts(engine, workers: 0, threads: 1, **arguments)
    [model(**arguments), Setting.new(engine: engine, workers: workers, threads: threads)]
  end

  def model(cpu: 0.0, wait: 0.0, waits: nil, unlocked: 0.0, entries: nil, base: nil, runs: {}, **facts)
    entries ||= [{ name: "all", cpu: cpu, wait: wait, waits: waits, unlocked: unlocked }]
    Model.new(Profile.new(entries: entries, environment: MACHINE, **facts), base: base, runs: runs)
  end

  def simulate(engine, demand, cpu:)
    random = Random.new(1)
    setting = Setting.new(engine: engine)
    work = Model::Work.new(Profile.new(entries: [{ name: "all", cpu: cpu, wait: 0 }]), engine)
    Model::Simulation.new(rules: Model::Rules.of(setting), machine: Model::Machine.new(1, nil),
                          draws: work.draws(random), random: random).run(demand, count: 50_000, skip: 1000)
  end

  # 500 quantiles of an exponential distribution.
  def exponential(mean)
    Array.new(500) { |index| -Math.log(1 - ((index + 0.5) / 500)) * mean }
  end

  # Exact mean value analysis of one queue and a delay: Reiser and Lavenberg.
  def closed_network(population, service, delay)
    queue = rate = 0.0
    1.upto(population) do |number|
      time = service * (1 + queue)
      rate = number / (time + delay)
      queue = rate * time
    end
    rate
  end

  # Settings, works and cores of many kinds.
  def grid
    settings = [[0, 3], [0, 16], [2, 5], [4, 1], [4, 8]].map do |workers, threads|
      Setting.new(engine: "hybrid", workers: workers, threads: threads)
    end
    entries = [[0.01, 0.05], [0.01, 0.01], [0.03, 0.005]].flat_map do |cpu, wait|
      [{ cpu: [cpu], wait: [wait] }, { cpu: exponential(cpu), wait: exponential(wait), waits: 3 }]
    end
    settings.product(entries, [2])
  end
end
