# frozen_string_literal: true

require "test_helper"
require_relative "../support/instant_lab"

# What a lab does when its time is short.
class TestLabTimeLimit < Minitest::Test
  ALL = { workers: [0, 2] }.freeze # five configurations with the control of c3, c5: ten runs in a round
  CONTROLLED = %w[c3 c5].freeze

  def setup
    @now = 0
    @speed = InstantLab::Speed.new(0.0, 0.0)
  end

  def test_a_lab_out_of_time_says_so
    lab = run_lab(10, rounds: 5) { @now += 2 }
    assert_match(/after 2 of 5 rounds/, warnings(lab).first)
  end

  # The third round ends when 125 s are over.
  def test_a_lab_that_stops_in_a_round_says_so
    starts = 0
    lab = run_lab(100, rounds: 5, least: 1, **ALL) { @now += (starts += 1) <= 10 ? 8 : 12 }
    assert_equal ["the time was over in round 3 of 5, which is incomplete"], warnings(lab)
    assert_includes 1..9, lab.of("run", "block").count(2)
  end

  def test_a_lab_whose_time_is_over_at_the_end_of_a_round_says_so
    runs = 0
    lab = run_lab(100, rounds: 5, ran: -> { @now = 126 if (runs += 1) == 12 })
    assert_equal ["the time was over after 2 of 5 rounds"], warnings(lab)
  end

  # And no configuration is left out for it, not even in a first round that takes too long.
  def test_a_lab_makes_the_least_rounds_and_says_so
    lab = run_lab(10, rounds: 5, least: 3, **ALL) { @now += 16 }
    assert_empty lab.of("left_out")
    assert_equal 3 * 10, lab.of("run").length
    assert_equal ["the time was over after 1 of 5 rounds; the lab continued, because fewer than 3 rounds show nothing"],
                 warnings(lab)
  end

  # A lab that isn't complete can be continued. Its results don't claim that it ended.
  def test_a_lab_whose_time_is_over_before_everything_wanted_is_there_pauses
    lab = run_lab(100, rounds: 5, least: 1, wanted: ->(_) {}) { @now += 25 }
    assert_operator lab.of("run", "block").uniq.length, :<, 5
    assert_equal({ "interrupted" => true, "paused" => true }, lab.store.lines.last.slice("interrupted", "paused"))
    assert_empty lab.of("warning")
  end

  def test_after_the_first_round_a_lab_leaves_out_what_there_is_no_time_for
    lab = run_lab(160, rounds: 4, **ALL) { @now += 10 }
    left_out = lab.of("left_out", "configuration")
    assert_equal 2, left_out.length
    assert_empty left_out & CONTROLLED
    runs = lab.of("run").group_by { |run| run["configuration"] }
    blocks = runs.transform_values { |all| all.map { |run| run["block"] }.uniq }
    assert_equal [[0]], blocks.values_at(*left_out).uniq
    assert_equal [[0, 1, 2, 3]], blocks.except(*left_out).values.uniq
  end

  # The first round may take a third of the time. What is left then, and may be left out, is.
  def test_a_first_round_that_takes_too_long_is_cut_short
    lab = run_lab(90, rounds: 1, **ALL) { @now += 16 }
    assert_equal "the first round took too long", lab.of("left_out", "reason").first
    measured = lab.of("run", "configuration").uniq
    assert_operator measured.length, :<, 5
    assert_empty CONTROLLED - measured
  end

  # Rounds become shorter, so that more of them fit than the first one let expect.
  def test_progress_never_has_more_runs_than_there_will_be
    starts = 0
    lab = run_lab(100, rounds: 2, free: true) { @now += (starts += 1) <= 3 ? 10 : 5 }
    assert_equal [0, 1, 2, 3, 4, 5], lab.of("run", "block").uniq
    counts = lab.out.string.scan(%r{^(\d+)/(\d+) }).map { |pair| pair.map(&:to_i) }
    assert_equal [[4, 12], [10, 18], [16, 36], [34, 36]], counts.values_at(2, 5, 8, -1)
    refute_match(/about -/, lab.out.string)
  end

  # Four rounds take 200 s. One start waits for 20 s, and 3 s of the limit are left: nothing has to be left out.
  def test_waits_for_the_cores_are_not_expected_in_all_rounds
    starts = 0
    lab = run_lab(230, rounds: 6, **ALL) do
      wait(20, left: 3) if (starts += 1) == 2
      @now += 10
    end
    assert_empty lab.of("left_out")
    assert_equal [0, 1, 2, 3], lab.of("run", "block").uniq
  end

  def test_a_round_is_expected_to_wait_for_no_more_than_is_left
    starts = 0
    lab = run_lab(150, rounds: 3, **ALL) do
      wait(25, left: 0) if (starts += 1) == 7
      @now += 10
    end
    assert_equal [0, 1, 2], lab.of("run", "block").uniq
  end

  private

  def run_lab(budget, rounds:, least: 0, free: false, wanted: nil, ran: nil, **options, &start)
    time = Cuttle::Lab::Runner::TimeLimit.new(budget, least: least, free: free, clock: -> { @now })
    lab = InstantLab.new(rounds: rounds, **options)
    Cuttle.stub(:now, -> { @now }) { lab.run(time: time, wanted: wanted, speed: @speed, ran: ran, &start) }
  end

  def wait(seconds, left:)
    @now += seconds
    @speed.waited += seconds
    @speed.left = left
  end

  def warnings(lab)
    lab.of("warning", "name", "text").select { |name, _| name == "budget" }.map(&:last)
  end
end
