# frozen_string_literal: true

require "test_helper"

# What the workers of a supervisor have counted.
class TestTally < Minitest::Test
  def setup
    @tally = Cuttle::Cluster::Tally.new
  end

  def test_sums_over_workers_that_come_and_go
    begin_and_note(1, 0, 10)
    begin_and_note(2, 1, 5)
    note(1, 0, 12)
    @tally.ended(1, died: true)
    begin_and_note(3, 0, 1)
    assert_equal 18, @tally.totals[:requests_count]
    assert_equal({ 0 => 13, 1 => 5 }, @tally.requests)
    assert_equal({ 0 => 2, 1 => 1 }, @tally.started)
    assert_equal [1, 0, nil], [@tally.restarts(0), @tally.restarts(1), @tally.restarts(2)]
    assert_equal 1, @tally.died
  end

  # Two threads of a worker may report at the same time.
  def test_an_older_message_that_arrives_later
    begin_and_note(1, 0, 10)
    note(1, 0, 8)
    note(1, 0, 10)
    assert_equal 10, @tally.totals[:requests_count]
  end

  def test_an_unknown_worker_counts_for_nothing
    note(7, 0, 10)
    begin_and_note(1, 0, 10)
    @tally.ended(1, died: false)
    note(1, 0, 20)
    assert_equal [10, 0], [@tally.totals[:requests_count], @tally.died]
  end

  def test_readers_get_what_never_changes
    begin_and_note(1, 0, 10)
    before = [@tally.totals, @tally.requests, @tally.started]
    copies = before.map(&:dup)
    note(1, 0, 20)
    @tally.began(2, 1)
    assert_equal copies, before
  end

  private

  def begin_and_note(pid, index, requests)
    @tally.began(pid, index)
    note(pid, index, requests)
  end

  def note(pid, index, requests) = @tally.note(pid, index, { requests_count: requests, backlog: 3 })
end
