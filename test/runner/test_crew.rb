# frozen_string_literal: true

require "test_helper"
require_relative "crew"

# How many tests run at once, by how busy the cores are.
class TestCrew < Minitest::Test
  Crew = Runner::Crew

  def setup
    @now = 0.0
    @times = [0, 0]
    @crew = Crew.new(most: Crew::LEAST * 4, clock: -> { @now }, times: -> { @times })
  end

  def test_it_grows_while_cores_idle
    assert_equal Crew::LEAST, @crew.size
    assert_equal [1, 2].map { |more| Crew::LEAST + more }, Array.new(2) { after(0.94) }
    100.times { after(0.5) }
    assert_equal Crew::LEAST * 4, @crew.size
  end

  def test_it_grows_faster_the_longer_they_idle
    assert_equal Crew::LEAST * 2, after(0)
    assert_includes 1..Crew::LEAST, after(0.5) - (Crew::LEAST * 2)
  end

  def test_it_shrinks_to_the_least_while_they_are_busy
    3.times { after(0.94) }
    assert_equal [2, 1, 0, 0].map { |more| Crew::LEAST + more }, Array.new(4) { after(1.0) }
  end

  def test_it_stays_where_they_are_busy_enough
    after(0.94)
    assert_equal [Crew::LEAST + 1] * 2, Array.new(2) { after(0.97) }
  end

  def test_a_look_takes_some_time
    assert_equal Crew::LEAST, after(0.94, seconds: Crew::EVERY / 2)
    assert_equal Crew::LEAST + 1, after(0.94, seconds: Crew::EVERY / 2)
  end

  def test_where_the_times_are_unknown
    @times = nil
    assert_equal Crew::LEAST, pass(1)
    assert_match(/too short/, @crew.report)
  end

  def test_the_report
    after(0.94)
    after(1.0)
    least = Crew::LEAST
    assert_equal "cores busy, with so many processes at once: 94% with #{least + 1}, 100% with #{least}", @crew.report
    200.times { after(1.0) }
    assert_operator @crew.report.scan("%").length, :<=, Crew::PARTS
  end

  # What the system tells, if it does.
  def test_the_cores_of_this_machine
    skip "not on Linux" unless File.exist?("/proc/stat")

    busy, all = Crew.new.send(:times)
    assert_operator busy, :>, 0
    assert_operator all, :>=, busy
  end

  private

  # The size after the cores were busy for that share of a time.
  def after(busy, seconds: Crew::EVERY)
    @times = [@times.first + (busy * 100), @times.last + 100]
    pass(seconds)
  end

  def pass(seconds)
    @now += seconds
    @crew.adapt
    @crew.size
  end
end
