# frozen_string_literal: true

require "test_helper"

# How the profile's time is divided.
class TestProfilerSchedule < Minitest::Test
  def setup
    @now = 100.0
    @stopped = false
    @schedule = Cuttle::Tuner::Profiler::Schedule.new(60, stop: -> { @stopped }, clock: -> { @now })
  end

  def test_steps_share_what_is_left
    assert_equal 10.0, @schedule.slice(5, 2, 1)
    @now += 30
    assert_equal 4.0, @schedule.slice(5, 2, 1)
    assert_equal 30.0, @schedule.left
  end

  # The first steps are the important ones.
  def test_late_steps_go_without
    @now += 50
    assert_equal 3, @schedule.slice(5, 2, 3)
    @now += 6
    assert_nil @schedule.slice(5, 2, 3)
  end

  def test_a_stop_ends_everything
    refute @schedule.passed?(130.0)
    @stopped = true
    assert @schedule.passed?(130.0)
    assert_predicate @schedule, :stopped?
  end
end
