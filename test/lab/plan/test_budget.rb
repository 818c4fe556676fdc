# frozen_string_literal: true

require "test_helper"

# What is cut to fit a lab into its time, and how that is kept while it runs.
class TestLabBudget < Minitest::Test
  def test_the_main_job_fits_two_minutes
    budget = fit({}, starts: 11, loads: 3)
    assert_operator budget.estimate, :<=, 120
    assert_operator budget.rounds, :>=, 3
    assert_match(/s of each run's 1 s/, budget.cut.first)
  end

  def test_what_was_asked_for_is_not_made_shorter
    budget = fit({ duration: 2.0, warmup: 1.0, budget: 100, rounds: 10 }, starts: 4, loads: 2)
    assert_equal 2.0, budget.duration
    assert_equal 1.0, budget.warmup
    assert_operator budget.rounds, :<, 10
    assert_equal ["#{10 - budget.rounds} of 10 rounds"], budget.cut
  end

  def test_more_time_is_more_rounds_where_none_were_asked_for
    assert_operator fit({ budget: 3600 }, starts: 2, loads: 1).rounds, :>, 5
    assert_equal 5, fit({ budget: 3600, rounds: 5 }, starts: 2, loads: 1).rounds
  end

  def test_too_little_is_said
    budget = fit({ budget: 1 }, starts: 20, loads: 5)
    assert_equal 3, budget.rounds
    assert_match(/the end of 3 rounds, which take about/, budget.cut.last)
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
    refute limit.over?
    now = 126
    assert limit.over?
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

  def fit(options, starts:, loads:)
    Cuttle::Lab::Plan::Budget.new(Cuttle::Lab::Options.new(**options), starts: starts, loads: loads).fit
  end

  def named(name)
    Struct.new(:name).new(name)
  end
end
