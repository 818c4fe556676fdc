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
    start(100)
    refute @slot.due?(200)
    assert_nil @slot.wake_in(200)
  end

  def test_deaths_at_boot_are_answered_later_and_later
    delays = Array.new(9) do
      start(100)
      @slot.ended(101)
      @slot.wake_in(101)
    end
    assert_equal [0, 0.5, 1, 2, 4, 8, 16, 30, 30], delays
    refute @slot.due?(130.9)
    assert @slot.due?(131)
  end

  def test_a_worker_that_ends_to_be_replaced_has_not_failed
    3.times do
      start(100)
      @slot.gave_way(101)
      assert_equal 0, @slot.wake_in(101)
    end
    start(100)
    @slot.ended(101)
    assert_equal 0, @slot.wake_in(101)
  end

  def test_a_life_after_boot_forgives
    2.times do
      start(100)
      @slot.ended(101)
    end
    start(100)
    @slot.ready(101)
    @slot.ended(106)
    assert_equal [0, false], [@slot.wake_in(106), @slot.failed?]
  end

  # Its hook waited for a database, say, or it was killed because the time for its boot was over.
  def test_a_worker_that_was_never_ready_has_died_at_boot
    delays = Array.new(3) do
      start(100)
      @slot.ended(160)
      @slot.wake_in(160)
    end
    assert_equal [[0, 0.5, 1], true], [delays, @slot.failed?]
  end

  def test_failures_to_fork_count_as_deaths_at_boot
    @slot.ended(100)
    @slot.ended(100)
    assert_equal 0.5, @slot.wake_in(100)
  end

  def test_a_retiring_worker_is_killed_once
    start(100)
    @slot.retire(130, "QUIT")
    assert_equal 10, @slot.wake_in(120)
    assert_nil @slot.overdue(129)
    assert_equal :kill, @slot.overdue(130)
    assert_nil @slot.overdue(131)
    assert_nil @slot.wake_in(131)
    refute @slot.due?(131)
  end

  def test_a_worker_that_has_accepted_once_is_missed
    start(100)
    refute @slot.missed?
    @slot.ready(101)
    refute @slot.missed?
    @slot.ended(102)
    assert @slot.missed?
    start(103)
    assert @slot.missed?
  end

  # The next one may start much later.
  def test_a_worker_that_has_gone_has_no_figures
    %i[ended gave_way].each do |ending|
      start(100)
      @slot.seen(101, { busy_threads: 1 })
      assert_equal 1, @slot.status.dig(:last_status, :busy_threads)
      @slot.public_send(ending, 110)
      assert_equal [{}, 0], [@slot.stats, @slot.status.dig(:last_status, :busy_threads)]
    end
  end

  # It may still print where it is.
  def test_a_silent_worker_is_asked_and_then_killed
    @slot = Cuttle::Cluster::Slot.new(0, boot: 10, silence: 60)
    start(100)
    assert_equal 10, @slot.wake_in(100)
    @slot.ready(105)
    assert_equal 60, @slot.wake_in(105)
    @slot.seen(110, { busy: 1 })
    assert_nil @slot.overdue(169)
    assert_equal [:dump, nil, :kill, nil], [170, 170.9, 171, 172].map { |now| @slot.overdue(now) }
    assert_equal "gave no sign of life for 60 s", @slot.fault
  end

  def test_a_worker_that_recovers_is_not_killed
    @slot = Cuttle::Cluster::Slot.new(0, silence: 60)
    start(100)
    @slot.ready(100)
    assert_equal :dump, @slot.overdue(160)
    @slot.seen(160.5, {})
    assert_nil @slot.overdue(161)
    assert_equal 59.5, @slot.wake_in(161)
  end

  # The process may be missing: its mould died between the order and the fork.
  def test_a_worker_that_is_never_ready
    @slot = Cuttle::Cluster::Slot.new(0, boot: 10)
    @slot.ordered(100)
    assert_equal :kill, @slot.overdue(110)
    start(200)
    assert_equal %i[dump kill], [@slot.overdue(210), @slot.overdue(211)]
    assert_equal "was not ready after 10 s", @slot.fault
  end

  private

  def start(now)
    @slot.ordered(now)
    @slot.forked(7)
  end
end
