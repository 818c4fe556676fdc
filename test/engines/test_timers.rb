# frozen_string_literal: true

require "test_helper"

# The fibers engine's timers against a sorted list of what is due.
class TestTimers < Minitest::Test
  def setup
    @timers = Cuttle::Engines::Fibers::Timers.new
    @random = Random.new(3)
    @due = []
    @fired = []
  end

  def test_they_fire_in_order_of_time_and_no_others
    1_000.times do
      add(@random.rand)
      now = @random.rand * 0.4
      assert_fires now, @random.rand(3).zero? ? nil : @random.rand(4)
    end
    assert_fires 1, nil
    assert_nil @timers.earliest
  end

  def test_cancelled_ones_count_for_nothing
    200.times { @random.rand < 0.5 ? add(@random.rand) : @timers.add(@random.rand, :cancelled).cancel }
    assert_fires 0.5, 10
    assert_fires 1, nil
  end

  def test_those_that_are_added_meanwhile_wait_until_they_are_due
    @timers.add(1, :first)
    @timers.fire(2) { |fiber, _| @fired << fiber && @timers.add(3, :second) }
    assert_equal [[:first], 3], [@fired, @timers.earliest]
  end

  private

  def add(time)
    @due << time
    @timers.add(time, time, -time)
  end

  def assert_fires(now, limit)
    expected = @due.select { |time| time <= now }.sort
    expected = expected.first(limit) if limit
    @fired.clear
    @timers.fire(now, limit) do |time, exception|
      assert_equal(-time, exception)
      @fired << time
    end
    assert_equal expected, @fired
    @due -= expected
  end
end
