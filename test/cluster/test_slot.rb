# frozen_string_literal: true

require "test_helper"

class TestSlot < Minitest::Test
  def setup
    @slot = Cuttle::Cluster::Slot.new(0)
  end

  def test_an_empty_slot_is_due_at_once
    assert @slot.due?(100)
    assert_equal 0, @slot.wake_in(100)
  end

  def test_a_running_one_needs_nobody
    @slot.started(7, 100)
    refute @slot.due?(200)
    assert_nil @slot.wake_in(200)
  end

  def test_deaths_at_boot_are_answered_later_and_later
    delays = Array.new(9) do
      @slot.started(7, 100)
      @slot.ended(101)
      @slot.wake_in(101)
    end
    assert_equal [0, 0.5, 1, 2, 4, 8, 16, 30, 30], delays
    refute @slot.due?(130.9)
    assert @slot.due?(131)
  end

  def test_who_ends_to_be_replaced_has_not_failed
    3.times do
      @slot.started(7, 100)
      @slot.gave_way(101)
      assert_equal 0, @slot.wake_in(101)
    end
    @slot.started(7, 100)
    @slot.ended(101)
    assert_equal 0, @slot.wake_in(101)
  end

  def test_a_life_after_boot_forgives
    2.times do
      @slot.started(7, 100)
      @slot.ended(101)
    end
    @slot.started(7, 100)
    @slot.ended(106)
    assert_equal 0, @slot.wake_in(106)
  end

  def test_failures_to_fork_count_as_deaths_at_boot
    @slot.ended(100)
    @slot.ended(100)
    assert_equal 0.5, @slot.wake_in(100)
  end

  def test_a_retiring_worker_is_overdue_once
    @slot.started(7, 100)
    @slot.retire(130)
    assert_equal 10, @slot.wake_in(120)
    refute @slot.overdue?(129)
    assert @slot.overdue?(130)
    refute @slot.overdue?(131)
    assert_nil @slot.wake_in(131)
    refute @slot.due?(131)
  end
end
