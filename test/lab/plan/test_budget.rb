# frozen_string_literal: true

require "test_helper"

# What is cut to fit a lab into its time, and how that is kept while it runs.
class TestLabBudget < Minitest::Test
  def test_the_main_job_fits_two_minutes
    budget = fit({}, starts: 11, loads: 2)
    assert_operator budget.estimate, :<=, 120
    assert_equal [11, 5], [budget.starts, budget.rounds]
    assert_match(/s of each run's 1 s/, budget.cut.first)
  end

  def test_what_was_asked_for_is_not_made_shorter
    budget = fit({ duration: 2.0, warmup: 1.0, budget: 100, rounds: 10 }, starts: 4, loads: 2)
    assert_equal 2.0, budget.duration
    assert_equal 1.0, budget.warmup
    assert_equal [3, 4], [budget.starts, budget.rounds]
    assert_equal ["1 of 4 configurations: name fewer, or increase --budget", "6 of 10 rounds"], budget.cut
  end

  def test_more_time_is_more_rounds_where_none_were_asked_for
    assert_operator fit({ budget: 3600 }, starts: 2, loads: 1).rounds, :>, 5
    assert_equal 5, fit({ budget: 3600, rounds: 5 }, starts: 2, loads: 1).rounds
  end

  # An app that takes 5 s to boot.
  def test_slow_boots_cost_configurations_and_no_rounds
    budget = fit({}, starts: 11, loads: 2, boot: 5.0, spent: 6)
    assert_operator budget.estimate, :<=, 114
    assert_equal [4, 4], [budget.starts, budget.rounds]
    assert_equal "7 of 11 configurations: name fewer, or increase --budget", budget.cut.last
  end

  # A request takes a slot 0.1 s, so that ten take a second.
  def test_slow_requests_cost_configurations_and_no_requests
    budget = fit({}, starts: 11, loads: 2, slot: 0.1, response: 0.25)
    assert_operator budget.estimate, :<=, 120
    assert_equal [7, 4, 1.0], [budget.starts, budget.rounds, budget.duration]
    assert_equal "0.3 s of each warm-up's 0.5 s", budget.cut.first
  end

  def test_a_budget_for_too_few_requests_is_named
    budget = fit({}, starts: 11, loads: 2, slot: 0.4, response: 1.0, spent: 6)
    assert_operator budget.estimate, :<=, 114
    assert_equal [3, 4], [budget.starts, budget.rounds]
    assert_match(/\Arequests: in runs of 2.\d+ s each slot answers about 5, and 10 would be enough; /, budget.cut.last)
    assert_match(/; increase --budget to about 2 min 50 s\z/, budget.cut.last)
    assert_operator fit({ budget: 170 }, starts: 3, loads: 2, slot: 0.4, response: 1.0).duration, :>=, 4
  end

  def test_runs_without_a_budget_have_enough_requests
    assert_equal 4.0, fit({ rounds: 3 }, starts: 2, loads: 1, slot: 0.4).duration
    assert_equal 1.0, fit({ duration: 1.0 }, starts: 2, loads: 1, slot: 0.4).duration
  end

  def test_no_run_is_shorter_than_a_request
    { {} => /a request takes 9 s here, and runs are only .*increase --budget to about \d/,
      { duration: 2.0 } => /and runs are only 2 s long: increase --duration/ }.each do |options, message|
      assert_match message, assert_raises(Cuttle::Lab::Failure) { fit(options, starts: 9, loads: 2, slot: 9.0) }.message
    end
  end

  def test_a_budget_that_is_too_small_is_named
    budget = fit({ budget: 1 }, starts: 20, loads: 5)
    assert_equal [3, 4], [budget.starts, budget.rounds]
    assert_match(/the end of 4 rounds, which take about/, budget.cut.last)
  end

  def test_without_a_budget_nothing_is_cut
    budget = fit({ rounds: 7, duration: 3.0 }, starts: 20, loads: 5)
    assert_equal [7, 3.0], [budget.rounds, budget.duration]
    assert_empty budget.cut
  end

  def test_a_block_that_would_end_late_is_not_begun
    now = 0
    limit = Cuttle::Lab::Runner::TimeLimit.new(100, clock: -> { now })
    refute limit.no_room_for_round?
    limit.round { now += 40 }
    refute limit.no_room_for_round?
    limit.round { now += 45 }
    assert limit.no_room_for_round?
    limit.expect(20)
    refute limit.no_room_for_round?
    refute limit.over?
    now = 126
    assert limit.over?
  end

  def test_rounds_that_are_the_least_are_made_whatever_time_they_take
    now = 0
    limit = Cuttle::Lab::Runner::TimeLimit.new(100, least: 2, clock: -> { now })
    limit.round { now += 200 }
    assert limit.late?
    refute limit.no_room_for_round?
    refute limit.over?
    limit.round { now += 200 }
    refute limit.late?
    assert limit.no_room_for_round?
    assert limit.over?
  end

  # As many as fit, if the user gave no number.
  def test_rounds_are_counted_again_when_one_has_shown_how_long_they_take
    now = 0
    free, fixed = [true, false].map { |each| Cuttle::Lab::Runner::TimeLimit.new(100, free: each, clock: -> { now }) }
    now = 20
    [free, fixed].each { |limit| limit.expect(10) }
    assert_equal [8, 5], [free.rounds_left(5), fixed.rounds_left(5)]
    assert_equal [50, 5], [free.rounds(5), fixed.rounds(5)]
    assert_equal 3, Cuttle::Lab::Runner::TimeLimit.new(nil, free: true).rounds(3)
  end

  def test_progress_estimates_what_is_left
    now = 0
    out = StringIO.new
    progress = Cuttle::Lab::Runner::Progress.new(out, total: 10, done: 4, clock: -> { now })
    assert_nil progress.left
    now = 6
    2.times { progress.done(named("hybrid"), named("1 connection"), "99/s") }
    assert_equal 12, progress.left
    progress.start(named("single"), 2)
    assert_equal "6/10  round 3, single  (about 12 s left)\n", out.string
  end

  private

  def fit(options, **figures)
    Cuttle::Lab::Plan::Budget.new(Cuttle::Lab::Options.new(**options), **figures).fit
  end

  def named(name)
    Struct.new(:name).new(name)
  end
end
