# frozen_string_literal: true

require "test_helper"
require_relative "../support/instant_lab"

# What a resumed lab measures, and what it keeps.
class TestLabResumed < Minitest::Test
  RUNS = 6 # of a round

  def test_an_incomplete_round_is_measured_again_as_a_whole
    before = whole(rounds: 3).store.lines.first(RUNS + 2)
    lab = InstantLab.new(rounds: 3)
    lab.run(done: lab.results(before))
    assert_equal [1], lab.of("again", "block")
    assert_equal [[1] * RUNS, [2] * RUNS].flatten, lab.of("run", "block")
    assert_equal RUNS + 3, lab.of("run", "order").first
    runs = lab.results(before + lab.store.lines).runs
    assert_equal 3 * RUNS, runs.length
    assert_equal lab.of("run", "order").first(RUNS), runs.select { |run| run.block == 1 }.map { |run| run["order"] }
    assert_includes lab.out.string, "6/18  round 2,"
  end

  def test_whole_rounds_stay
    before = whole(rounds: 3).store.lines.first(RUNS * 2)
    lab = InstantLab.new(rounds: 3)
    lab.run(done: lab.results(before))
    assert_empty lab.of("again")
    assert_equal [2] * RUNS, lab.of("run", "block")
  end

  # It has no run in later rounds, and they are complete without it.
  def test_a_configuration_that_was_given_up_makes_no_round_incomplete
    before = InstantLab.new(rounds: 3).run { |each| raise Cuttle::Lab::Failure, "no" if each.id == "c1" }
    lab = InstantLab.new(rounds: 4)
    lab.run(done: before.results)
    assert_empty lab.of("again")
    assert_equal [3] * RUNS, lab.of("run", "block")
  end

  # As after the end of a database that all configurations use.
  def test_what_failed_in_the_last_round_is_measured_again
    starts = 0
    before = InstantLab.new(rounds: 2).run { raise Cuttle::Lab::Failure, "no database" if (starts += 1) > 4 }
    lab = InstantLab.new(rounds: 2)
    lab.run(done: before.results)
    assert_equal [1], lab.of("again", "block")
    results = lab.results(before.store.lines + lab.store.lines)
    assert_equal [2 * RUNS, []], [results.runs.length, results.failures]
  end

  def test_what_was_left_out_stays_so
    before = whole(rounds: 1).store.lines
    before.insert(-2, { "type" => "left_out", "configuration" => "c1", "block" => 0, "reason" => "far behind" })
    lab = InstantLab.new(rounds: 2)
    lab.run(done: lab.results(before))
    assert_equal %w[c2 c3], lab.of("run", "configuration").uniq.sort
  end

  # The first round is measured again, and shows what there is no time for.
  def test_a_lab_whose_first_round_was_incomplete_leaves_out_what_there_is_no_time_for
    before = InstantLab.new(rounds: 2, workers: [0, 2]).run.store.lines.first(1)
    lab = InstantLab.new(rounds: 2, workers: [0, 2])
    time = Cuttle::Lab::Runner::TimeLimit.new(1000)
    time.stub(:left, 0.0) { lab.run(done: lab.results(before), time: time) }
    assert_equal 2, lab.of("left_out").length
    assert_equal [0] * 10 + [1] * 6, lab.of("run", "block")
  end

  # Ctrl-C while the first server boots.
  def test_what_there_is_of_a_round_counts_until_something_replaces_it
    before = whole(rounds: 3).store.lines.first(RUNS + 2)
    lab = InstantLab.new(rounds: 3)
    lab.run(done: lab.results(before)) do
      lab.interruption.ask unless lab.interruption.asked?
      raise Cuttle::Lab::Failure, "was still starting when the lab was interrupted"
    end
    assert_empty lab.of("again")
    assert_equal RUNS + 2, lab.results(before + lab.store.lines).runs.length
  end

  # A lab with a budget makes more rounds than planned if they fit.
  def test_an_incomplete_round_beyond_the_plan_is_measured_again
    before = whole(rounds: 3).store.lines.first((2 * RUNS) + 2)
    lab = InstantLab.new(rounds: 2)
    lab.run(done: lab.results(before))
    assert_equal [2], lab.of("again", "block")
    assert_equal [2] * RUNS, lab.of("run", "block")
  end

  def test_a_configuration_that_failed_once_is_missed_in_an_incomplete_round
    last = InstantLab.new(rounds: 2).plan.round(1).last.configuration.id
    failed = false
    before = InstantLab.new(rounds: 2).run do |each|
      next if failed || each.id != last

      failed = true
      raise Cuttle::Lab::Failure, "once"
    end
    killed = before.store.lines.reject do |line|
      line["type"] == "end" || line.values_at("configuration", "block") == [last, 1]
    end
    lab = InstantLab.new(rounds: 2)
    lab.run(done: lab.results(killed))
    assert_equal [1], lab.of("again", "block")
    assert_equal RUNS, lab.of("run").length
  end

  private

  def whole(rounds:)
    InstantLab.new(rounds: rounds).run
  end
end
