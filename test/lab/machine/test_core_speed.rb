# frozen_string_literal: true

require "test_helper"

# How fast cores are, beside what they usually are.
class TestLabCoreSpeed < Minitest::Test
  CoreSpeed = Cuttle::Lab::Machine::CoreSpeed
  Cores = Struct.new(:server)

  # speeds: of each core, by its number: a list, whose last one stays.
  def speed(speeds, give_up: -> { false })
    @pauses = 0
    looks = ->(core) { speeds[core].length > 1 ? speeds[core].shift : speeds[core].first }
    pause = ->(_) { @pauses += 1 }
    clock = -> { @pauses * CoreSpeed::PAUSE }
    CoreSpeed.new(Cores.new(speeds.keys), give_up: give_up, look: looks, pause: pause, clock: clock).tap { @pauses = 0 }
  end

  def usual(value)
    [value] * CoreSpeed::FIRST
  end

  def test_speeds_are_relative_to_the_cores_usual_one_and_the_slowest_counts
    two = speed({ 0 => [*usual(100), 90], 3 => [*usual(300), 150, 300] })
    assert_equal [0.5, 0.9], [two.now, two.now]
    assert CoreSpeed.slow?(0.5)
    refute CoreSpeed.slow?(0.9)
  end

  def test_it_waits_until_no_core_is_slow
    speed({ 0 => [*usual(100), 50, 60, 100] }).await
    assert_equal 2, @pauses
    speed({ 0 => [100] }).await
    assert_equal 0, @pauses
  end

  def test_it_waits_no_longer_than_its_patience
    slow = speed({ 0 => [*usual(100), 10] }).tap(&:await)
    assert_in_delta CoreSpeed::PATIENCE, @pauses * CoreSpeed::PAUSE, 0.1
    assert_in_delta CoreSpeed::PATIENCE, slow.waited, 0.1
    assert_in_delta CoreSpeed::LIMIT - CoreSpeed::PATIENCE, slow.left, 0.1
    20.times { slow.await }
    assert_in_delta CoreSpeed::LIMIT, @pauses * CoreSpeed::PAUSE, 0.1
  end

  def test_what_stays_slow_is_what_is_usual_in_the_end
    slow = speed({ 0 => [*usual(100), 50] })
    assert_equal [0.5, 1.0], Array.new(CoreSpeed::KNOWN) { slow.now }.values_at(0, -1)
  end

  def test_it_gives_up_on_request
    speed({ 0 => [*usual(100), 10] }, give_up: -> { true }).await
    assert_equal 0, @pauses
  end

  def test_where_no_speed_can_be_had_nothing_is_slow
    none = speed({ 0 => [nil] })
    none.await
    assert_nil none.now
    refute CoreSpeed.slow?(nil)
  end

  def test_a_core_of_this_machine
    cores = Cuttle::Lab::Machine::Cores.allowed
    assert_operator Cuttle::Load::Parts.core_speed(cores.first, 2), :>, 1e6
    assert_equal cores, Cuttle::Lab::Machine::Cores.allowed, "the thread is where it was"
    assert_nil Cuttle::Load::Parts.core_speed(100_000, 2)
    assert_nil Cuttle::Load::Parts.core_speed(-1, 2)
    assert_raises(ArgumentError) { Cuttle::Load::Parts.core_speed(0, 0) }
  end
end
