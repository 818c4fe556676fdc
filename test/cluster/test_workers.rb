# frozen_string_literal: true

require "test_helper"

# The workers as their supervisor knows them: signals and messages that cross on their way.
class TestWorkers < Minitest::Test
  Workers = Cuttle::Cluster::Workers
  Message = Cuttle::Cluster::Wire::Message
  Signals = Cuttle::Signals

  # What the supervisor has of the cluster.
  Membership = Struct.new(:settings, :scoreboard, :report)

  # Shows nothing.
  class Scoreboard
    def clear(_) = nil
  end

  # How a worker ended, of which Process::Status has no constructor.
  Status = Struct.new(:exitstatus, :termsig) do
    def success? = exitstatus && exitstatus.zero?
    def signaled? = !termsig.nil?
  end

  ENDINGS = { Status.new(0) => true, Status.new(Cuttle::Worker::STUCK) => true, nil => true,
              Status.new(1) => false, Status.new(130) => false, Status.new(nil, 9) => false }.freeze

  # Forks nothing.
  class Mould
    def loaded? = true
    def closed? = false
    def dead? = false
    def order(_slot) = nil
  end

  def setup
    @said = []
    @workers = Workers.new(Membership.new(Cuttle::Settings.build(variables: {}), Scoreboard.new, @said.method(:<<)))
    @mould = Mould.new
  end

  # A worker may serve before the supervisor has read that it exists. It got TERM, and answered the whole backlog.
  def test_a_worker_that_must_leave_before_it_is_known_leaves_the_backlog_to_the_others
    assert_equal [[Signals::LEAVE, 7]], signals { |slot| @workers.retire(slot) }
  end

  def test_a_worker_that_must_stop_before_it_is_known_answers_the_backlog
    assert_equal [["TERM", 7]], signals { @workers.stop }
  end

  # A worker whose time to stop is over exits by itself, with 1.
  def test_a_stop_that_cuts_requests_off_is_not_clean
    ENDINGS.each do |status, clean|
      setup
      slot = running_worker
      Process.stub(:kill, nil) { @workers.stop }
      assert_predicate @workers, :clean?
      @workers.bury([[slot, status]], Cuttle.now)
      assert_equal clean, @workers.clean?, status.inspect
      assert_empty @workers
    end
  end

  # That was in a phased restart, weeks ago.
  def test_a_worker_that_was_killed_before_the_stop_does_not_count
    slot = running_worker
    Process.stub(:kill, nil) do
      @workers.retire(slot)
      @workers.tend(Cuttle.now + 60)
      @workers.bury([[slot, Status.new(nil, 9)]], Cuttle.now)
      @workers.stop
    end
    assert_match(/did not end in time: killed/, @said.join)
    assert_predicate @workers, :clean?
  end

  def test_a_worker_that_has_to_be_killed_at_the_stop_counts
    running_worker
    Process.stub(:kill, nil) do
      @workers.stop
      @workers.tend(Cuttle.now + 60)
    end
    refute_predicate @workers, :clean?
  end

  # The new program may not be able to load the app.
  def test_the_death_of_a_worker_from_before_a_hot_restart_is_reported
    @workers.adopt([7, 8, 9], [7, 8])
    serving, leaving, ended = @workers.elders
    Process.stub(:kill, nil) { @workers.retire(leaving) }
    [[serving, Status.new(nil, 11)], [leaving, Status.new(0)], [ended, Status.new(0)]].each do |slot, status|
      @workers.bury([[slot, status]], Cuttle.now)
    end
    assert_equal ["elder (pid 7) died (SIGSEGV), and is not replaced before the new app is loaded"], @said
  end

  private

  # A worker with the pid 7.
  def running_worker
    slot = @workers.add(@mould)
    @workers.tend(Cuttle.now)
    @workers.hear(Message.new(:forked, { place: slot.place, pid: 7 }), Cuttle.now)
    slot
  end

  # Signals that a worker with the pid 7 gets if the block retires it after it was ordered.
  def signals
    sent = []
    slot = @workers.add(@mould)
    Process.stub(:kill, ->(*signal) { sent << signal }) do
      @workers.tend(Cuttle.now)
      yield slot
      @workers.hear(Message.new(:forked, { place: slot.place, pid: 7 }), Cuttle.now)
    end
    sent
  end
end
