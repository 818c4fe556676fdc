# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

# How long a process that stops waits, and what it says if it was too long.
class TestTheDrainOfAWorker < Minitest::Test
  # Each wait moves the clock. +events+ are blocks, by the time at which each is called.
  Signals = Struct.new(:now, :events) do
    def wait(seconds)
      self.now = [now + seconds, *events.keys].min
      events.delete(now)&.call
      []
    end
  end

  # A server without requests.
  class Server
    attr_reader :settings

    def initialize = @settings = Cuttle::Settings.build(variables: {}, shutdown_timeout: 10)
    def stop_soon(**) = nil
    def stranded? = false
  end

  # A pulse that sends nothing.
  class Pulse
    def interval = nil
    def beat = nil
  end

  def setup
    @said = []
    @signals = Signals.new(0, {})
    @drain = Cuttle::Worker::Drain.new(Server.new, @signals, Pulse.new, @said.method(:<<)) { nil }
  end

  def test_requests_have_the_time_of_the_shutdown
    assert_ends_at 10, "requests were still under way after 10 s"
  end

  def test_a_hook_of_a_worker_has_what_is_left
    @signals.events[4] = -> { @drain.hook(:before_worker_shutdown) }
    assert_ends_at 10, "the hook before_worker_shutdown was still under way after 10 s"
  end

  # It may wait for work that it stops.
  def test_a_hook_of_the_only_process_has_time_of_its_own
    @signals.events[4] = -> { @drain.hook(:after_stopped, 20) }
    assert_ends_at 24, "the hook after_stopped was still under way after 20 s"
  end

  def test_a_hook_keeps_what_is_left_of_a_longer_time
    @signals.events[4] = -> { @drain.hook(:after_stopped, 5) }
    assert_ends_at 10, "the hook after_stopped was still under way after 10 s"
  end

  private

  def assert_ends_at(seconds, line)
    status = Cuttle.stub(:now, -> { @signals.now }) { @drain.run(leave_backlog: false) }
    assert_equal [1, seconds, [line]], [status, @signals.now, @said]
  end
end
