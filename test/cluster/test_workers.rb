# frozen_string_literal: true

require "test_helper"

# The workers as their supervisor knows them: signals and messages that cross on their way.
class TestWorkers < Minitest::Test
  Workers = Cuttle::Cluster::Workers
  Message = Cuttle::Cluster::Wire::Message
  Signals = Cuttle::Signals

  # What the supervisor has of the cluster.
  Membership = Struct.new(:settings)

  # Forks nothing.
  class Mould
    def loaded? = true
    def closed? = false
    def dead? = false
    def order(_slot) = nil
  end

  def setup
    @workers = Workers.new(Membership.new(Cuttle::Settings.build(variables: {})))
    @mould = Mould.new
  end

  # A worker may serve before the supervisor has read that it exists. It got TERM, and answered the whole backlog.
  def test_a_worker_that_must_leave_before_it_is_known_leaves_the_backlog_to_the_others
    assert_equal [[Signals::LEAVE, 7]], signals { |slot| @workers.retire(slot) }
  end

  def test_a_worker_that_must_stop_before_it_is_known_answers_the_backlog
    assert_equal [["TERM", 7]], signals { @workers.stop }
  end

  private

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
