# frozen_string_literal: true

require "test_helper"
require_relative "../support/lab_fakes"

# The configurations that a lab continues with after its first round.
class TestLabRoster < Minitest::Test
  RATES = { "single" => 80, "single -w 2" => 160, "hybrid -t 5" => 400, "hybrid -w 2 -t 5" => 390, "fibers" => 420,
            "fibers -w 2" => 410, "hybrid -t 5 (again)" => 398 }.freeze

  def test_enough_time_leaves_everything_in
    assert_empty left_out(5 * 7 * 10)
  end

  def test_the_farthest_behind_goes_first_and_no_more_than_needed
    out = left_out(5 * 6 * 10)
    assert_equal({ "single" => "5.2 times behind the best" }, out)
    assert_equal ["single", "single -w 2"], left_out(5 * 5 * 10).keys
  end

  # Six rounds are not worth a configuration that may be the best; four are.
  def test_about_as_good_as_the_best_stays_as_long_as_possible
    assert_equal ["single", "single -w 2"], left_out(3 * 5 * 10).keys
    assert_equal ["single", "single -w 2", "hybrid -w 2 -t 5"], left_out(3 * 4 * 10).keys
  end

  def test_the_control_and_another_one_stay
    assert_equal ["single", "single -w 2", "hybrid -w 2 -t 5", "fibers -w 2"], left_out(0).keys
  end

  def test_what_was_not_measured_goes_first
    out = left_out(5 * 6 * 10, invalid: ["fibers"])
    assert_equal({ "fibers" => "nothing was measured" }, out)
  end

  def test_no_more_rounds_are_made_room_for_than_are_wanted
    assert_empty left_out(2 * 7 * 10, most: 3)
    assert_equal ["single"], left_out(2 * 6 * 10, most: 3).keys
  end

  # Slow at one load, and the best at another.
  def test_far_behind_is_behind_under_every_load
    assert_empty left_out(5 * 5 * 10, best_p95: "single").keys & %w[single]
  end

  private

  # { name => reason }, with that many seconds left, if each start takes 10.
  def left_out(left, invalid: [], best_p95: nil, most: 50)
    options = Cuttle::Lab::Options.new(seed: 1, concurrency: [20], rates: [250.0])
    plan = Cuttle::Lab::Plan.build(options, peers: LabFakes::Peers.new)
    roster = Cuttle::Lab::Runner::Roster.new(plan)
    now = 0
    Cuttle.stub(:now, -> { now }) do
      plan.round(0).each do |start|
        roster.time(start) { now += 10 }
        name = start.configuration.name
        start.loads.each do |load|
          roster.add(start, load, "valid" => !invalid.include?(name), "rate" => RATES.fetch(name),
                                  "ms" => { "p95" => best_p95 == name ? 1.0 : 10_000.0 / RATES.fetch(name) })
        end
      end
    end
    roster.shrink(left, most: most).transform_keys(&:name)
  end
end
