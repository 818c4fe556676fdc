# frozen_string_literal: true

require "test_helper"
require_relative "../lab/support/synthetic_lab"
require_relative "support/kept_runs"
require_relative "support/made_up"

# Which settings are looked at, and which of them is the best.
class TestSearch < Minitest::Test
  include KeptRuns
  include MadeUp

  def search(model = Plain.new, profile = profile(), cores: 1, present: nil, engines: Tuner::Grid.engines, **limits)
    Tuner::Search.new(model, profile, limits: Tuner::Limits.new(**limits), engines: engines, cores: cores,
                                      present: present).run
  end

  def ranked(*outcomes, present: nil, **limits)
    Tuner::Ranking.new(limits: Tuner::Limits.new(**limits), present: present).order(outcomes).map(&:setting)
  end

  # It serves 49.5 of 50 requests a second, nearly as much as the other.
  def test_an_overloaded_setting_is_not_the_quickest
    quick = outcome(setting("hybrid", 0, 3), capacity: 49.5, p95: 0.05)
    others = [setting("hybrid", 2, 3), setting("hybrid", 3, 3)].map { |each| outcome(each, capacity: 50, p95: 0.1) }
    assert_equal [*others, quick].map(&:setting), ranked(quick, *others)
    unknown = Tuner::Outcome.new(**quick.to_h, p95: nil)
    assert_equal [*others, unknown].map(&:setting), ranked(unknown, *others)
  end

  def test_an_unknown_tail_is_not_a_longer_one
    one, other = [setting("hybrid", 2, 3), setting("hybrid", 3, 3)].map { |each| outcome(each, capacity: 100) }
    unknown = Tuner::Outcome.new(**one.to_h, p95: nil)
    ranking = Tuner::Ranking.new(limits: Tuner::Limits.new)
    assert_empty ranking.behind(unknown, other)
    assert_equal [:p95], ranking.behind(outcome(one.setting, capacity: 100, p95: 1.0), other)
  end

  def test_the_grid_has_more_slots_than_an_app_can_use
    grid = Tuner::Grid.new(profile(cpu: 0.005, wait: 0.02), engines: %w[single hybrid], cores: 2)
    assert_equal 20, grid.slots
    assert_equal [0, *2..8, 10, 12, 14, 16, 20], grid.workers("single")
    assert_equal [0, 2, 3, 4], grid.workers("hybrid")
    assert_equal [1, 2, 3, 4, 5, 6, 8, 10], grid.threads
    assert_includes grid.settings, setting("hybrid", 2, 8)
    assert_includes grid.settings, setting("single", 20)
  end

  def test_an_app_that_never_waits_gets_no_more_threads_than_users_ask_about
    grid = Tuner::Grid.new(profile(cpu: 0.005, wait: 0), engines: %w[hybrid], cores: 1)
    assert_equal [*1..5], grid.threads
  end

  def test_neighbours_are_a_step_away
    grid = Tuner::Grid.new(profile, engines: %w[hybrid single], cores: 2)
    assert_equal [[3, 3], [0, 3], [2, 4], [2, 2], [2, "auto"]],
                 grid.around(setting("hybrid", 2, 3)).map { |each| [each.workers, each.threads] }
    assert_equal [auto(3), auto], grid.around(auto(2)), "its number of threads is none to step from"
    assert_equal [3, 0], grid.around(setting("single", 2)).map(&:workers)
    assert_equal [setting("hybrid", 2, 7), setting("hybrid", 0, 7), setting("hybrid", 1, 8), setting("hybrid", 1, 6),
                  auto(1)], grid.around(setting("hybrid", 1, 7)), "also of a setting that is not on the grid"
  end

  def test_threads_auto_are_there_with_each_number_of_workers
    grid = Tuner::Grid.new(profile, engines: %w[hybrid threads single], cores: 2)
    assert_equal [auto, auto(2), auto(3), auto(4)], grid.settings.select(&:auto?)
    assert_equal auto(7), grid.auto_beside(setting("hybrid", 7, 3)), "also off the grid"
    assert_nil grid.auto_beside(setting("threads", 2, 3))
    assert_equal [nil], grid.choices("single")
  end

  # Some day it may start them.
  def test_the_limits_hold_with_all_threads_that_auto_may_start
    assert_equal [auto, auto(2)], autos(connections: 200)
    assert_equal [auto(0, 19), auto(2, 9)], autos(connections: 20)
    assert_equal [auto(0, 41), auto(2, 6)], autos(memory: 110_000_000)
    assert_equal [auto(0, 8), auto(2, 8)], autos(connections: 20, most: 8), "8 is the user's own limit"
    assert_equal [auto(0, 4)], autos(connections: 5)
    assert_empty autos(connections: 4), "the three threads that it begins with are no choice"
  end

  # No pool is known then, so the server starts few.
  def test_without_a_database_auto_needs_the_memory_of_few_threads
    tight = Tuner::Limits.new(memory: 75_000_000)
    grid = Tuner::Grid.new(profile(connections: nil), engines: %w[hybrid], cores: 1, limits: tight)
    assert_includes grid.settings, auto
  end

  def autos(most: nil, **limits)
    app = profile(connections: { "process" => 1, "thread" => 1 })
    Tuner::Grid.new(app, engines: %w[hybrid], cores: 1, limits: Tuner::Limits.new(**limits), most: most)
               .settings.select(&:auto?)
  end

  def test_a_present_setting_with_threads_auto_is_held_to_all_that_it_may_start
    have = search(Plain.new, present: auto, connections: 20).outcomes.find { |each| each.setting == auto }
    assert_in_delta 3.2, have.excess(Tuner::Limits.new(connections: 20))[:connections]
    found = search(Plain.new, present: auto(0, 12))
    assert_equal [12], found.capacities.keys.filter_map(&:max_threads).uniq
  end

  # Each of its requests may hold a connection, so nothing speaks for another engine.
  def test_a_limit_of_connections_is_no_reason_for_fibers
    app = waiting.with(connections: { "process" => 0, "thread" => 1 })
    found = search(Tuner::Model.new(app, connections: 5), app, engines: %w[hybrid fibers], connections: 5)
    assert_equal ["hybrid", 5], [found.best.setting.engine, found.best.connections]
    assert_operator found.capacities[setting("fibers")], :<, 25
  end

  # Without a database pool that is known, the server starts five.
  def test_threads_auto_get_a_higher_limit_where_their_own_is_too_low
    found = searched(waiting)
    best = found.best.setting
    assert_operator best.threads, :>=, 16
    own, higher = [found.own, found.grid].map { |grid| grid.auto_beside(best) }
    assert_equal [nil, best.threads], [own, higher].map(&:max_threads)
    assert_operator found.capacities[higher], :>, 3 * found.capacities[own]
    tight = searched(waiting, memory: 80_000_000)
    assert_equal [auto(0, 10)], tight.grid.settings.select { |each| each.auto? && each.workers.zero? }
  end

  def searched(app, **limits)
    search(Tuner::Model.new(app), app, engines: %w[hybrid], **limits)
  end

  # Five threads are enough, or auto may start 64 of them, or few requests come.
  def test_a_limit_of_threads_auto_stays_where_more_threads_would_not_help
    held = waiting.with(connections: { "process" => 0, "thread" => 1 })
    [[profile(cpu: 0.005, wait: 0.02)], [held], [waiting, { rate: 5.0 }]].each do |app, limits|
      found = searched(app, **limits.to_h)
      assert_same found.own, found.grid
    end
  end

  # It counts as all that may be started, and what it loses is not known.
  def test_a_number_of_threads_comes_before_threads_auto_that_were_not_measured
    four = outcome(setting("hybrid", 0, 4), capacity: 100, p95: 0.1)
    same = outcome(auto, capacity: 100, p95: 0.1)
    assert_equal [four, same].map(&:setting), ranked(same, four)
  end

  def test_ractors_are_there_only_if_they_are_named
    refute_includes Tuner::Grid.engines, "ractors"
    assert_includes search(engines: %w[ractors]).capacities.keys.map(&:engine), "ractors"
  end

  # 40/s a process and 50/s a core: two processes.
  def test_the_best_has_the_highest_capacity_at_the_least_cost
    found = search
    assert_equal 50, found.best.capacity.value
    assert_equal 2, found.best.setting.processes
    assert_in_delta 35, found.demand.rate
  end

  def test_with_a_target_rate_capacity_beyond_it_counts_for_nothing
    found = search(rate: 5.0)
    assert_equal 5, found.demand.rate
    assert_equal 1, found.best.setting.processes
  end

  # 35/s, at which 50/s have a p99 of 0.2 s.
  def test_without_a_target_rate_response_times_count_at_the_rate_that_is_used
    assert_empty search(p99: 0.25).best.excess(Tuner::Limits.new(p99: 0.25))
    { p99: 0.15, queue_p99: 0.03 }.each do |name, limit|
      assert_equal [name], search(name => limit).best.excess(Tuner::Limits.new(name => limit)).keys
    end
  end

  def test_the_database_and_the_memory_limit_the_search
    found = search(connections: 3)
    assert_operator found.best.connections, :<=, 3
    found = search(memory: 80_000_000)
    assert_equal 1, found.best.setting.processes
    assert_in_delta 28, found.demand.rate, 0.01, "what does not fit sets no rate"
  end

  def test_where_nothing_keeps_the_limits_the_nearest_is_first
    limits = Tuner::Limits.new(memory: 20_000_000)
    found = search(memory: 20_000_000)
    assert_equal 1, found.best.setting.processes
    assert_in_delta 1.5, found.best.excess(limits)[:memory]
    rate = search(rate: 500.0)
    assert_equal %i[p99 queue_p99 rate] & rate.best.excess(Tuner::Limits.new(rate: 500.0)).keys, [:rate]
  end

  def test_the_present_setting_is_always_looked_at
    have = setting("hybrid", 7, 60)
    assert_includes search(present: have).outcomes.map(&:setting), have
  end

  def test_few_settings_are_simulated
    model = Plain.new
    search(model, cores: 8)
    assert_operator model.asked.length, :<=, Tuner::Search::FORECASTS
    assert_equal model.asked.uniq.length, model.asked.length
  end

  def test_what_keeps_the_limits_comes_first
    fast = outcome(setting("hybrid", 2, 3), capacity: 100, memory: 200)
    small = outcome(setting("hybrid", 0, 3), capacity: 50, memory: 100)
    assert_equal [small.setting, fast.setting], ranked(fast, small, memory: 150)
    assert_equal [fast.setting, small.setting], ranked(fast, small, memory: 200)
  end

  def test_differences_within_noise_go_to_the_cheapest
    dear = outcome(setting("hybrid", 4, 5), capacity: 101, p95: 0.100, memory: 300)
    cheap = outcome(setting("hybrid", 2, 5), capacity: 100, p95: 0.105, memory: 200)
    slow = outcome(setting("hybrid", 0, 5), capacity: 90, p95: 0.05, memory: 100)
    late = outcome(setting("hybrid", 2, 4), capacity: 100, p95: 0.2, memory: 90)
    assert_equal [cheap, dear, late, slow].map(&:setting), ranked(slow, late, dear, cheap)
  end

  def test_among_equals_the_present_engine_is_kept
    hybrid = outcome(setting("hybrid", 2, 5), capacity: 100, memory: 200, connections: 4)
    fibers = outcome(setting("fibers", 2), capacity: 100, memory: 201, connections: 4)
    assert_equal hybrid.setting, ranked(fibers, hybrid).first
    assert_equal fibers.setting, ranked(hybrid, fibers, present: setting("fibers", 0)).first
  end

  # For a low rate many settings are as good. More threads are cheaper than more workers, which is two steps away.
  def test_for_a_low_rate_the_cheapest_is_found
    app = profile(cpu: [0.0002, 0.0003, 0.0005], wait: [0.0101, 0.0103, 0.012])
    found = search(Tuner::Model.new(app), app, cores: 2, engines: %w[hybrid], rate: 75.0)
    assert_equal "hybrid -t 3", found.best.setting.name
  end

  # With the model itself: what waits four fifths of its time keeps a core busy with several threads, and a process
  # more gains nothing on one core.
  def test_by_the_model
    found = search(Tuner::Model.new(profile), profile, engines: %w[single hybrid])
    assert_equal "hybrid", found.best.setting.engine
    assert_operator found.best.setting.threads, :>, 3
    assert_operator found.best.capacity.value, :>, 150
    two = search(Tuner::Model.new(profile), profile, cores: 2, engines: %w[single hybrid])
    assert_operator two.best.setting.processes, :>=, 2
    assert two.best.capacity.low < two.best.capacity.value && two.best.capacity.value < two.best.capacity.high
  end
end
