# frozen_string_literal: true

require "test_helper"

# The work app's connections: a maximum number, each with one user.
class TestPool < Minitest::Test
  include Eventually

  def setup
    @made = Thread::Queue.new
    @pool = Cuttle::Lab::WorkApp::Pool.new(2) { Object.new.tap { |connection| @made << connection } }
  end

  def test_it_makes_connections_when_they_are_needed_and_keeps_them
    used = Array.new(5) { @pool.with(&:itself) }
    assert_operator used.uniq.size, :<=, 2
    assert_equal used.uniq.size, @made.size
  end

  def test_a_thread_that_finds_none_free_waits
    release = Thread::Queue.new
    inside = Thread::Queue.new
    users = Array.new(3) { Thread.new { @pool.with { |connection| inside << connection and release.pop } } }
    eventually { users.count(&:stop?) == 3 }
    assert_equal 2, inside.size
    3.times { release << true }
    users.each(&:join)
    assert_equal [3, 2], [inside.size, @made.size]
  end

  def test_a_connection_that_failed_is_not_used_again
    failed = []
    4.times { assert_raises(IOError) { @pool.with { |connection| failed << connection and raise IOError } } }
    assert_equal 4, failed.uniq.size
    assert_equal :done, @pool.with { :done }
  end

  def test_one_that_can_not_be_made_takes_no_place
    pool = Cuttle::Lab::WorkApp::Pool.new(1) { raise IOError }
    3.times { assert_raises(IOError) { pool.with { flunk } } }
  end
end
