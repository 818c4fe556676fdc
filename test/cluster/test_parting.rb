# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

# The hooks at the end of a supervisor: they may never end.
class TestParting < Minitest::Test
  # Each wait moves the clock. +coming+ are the signals that come then.
  Signals = Struct.new(:now, :coming) do
    def wait(seconds)
      self.now += seconds
      coming
    end

    def add(_) = nil
  end

  # systemd expects a sign of life every 8 seconds.
  class Heartbeat
    attr_reader :beats

    def initialize = @beats = []
    def wake_in(_) = 8
    def beat(now) = @beats << now
  end

  # Hooks that never end.
  class Hooks
    def attempt(_) = sleep
  end

  def setup
    @said = []
    @heartbeat = Heartbeat.new
  end

  def test_hooks_have_a_limit
    refute parted?
    assert_equal ["the hook after_stopped was still under way after 20 s"], @said
    assert_equal [8, 16, 20], @heartbeat.beats
  end

  def test_a_second_interrupt_ends_the_wait
    %w[INT HALT].each { |name| refute parted?(name) }
    assert_empty @said
  end

  def test_other_signals_do_not
    refute parted?("TERM")
    assert_equal 1, @said.length
  end

  private

  def parted?(*signals)
    signals = Signals.new(0, signals)
    parting = Cuttle::Cluster::Parting.new(Hooks.new, signals, @heartbeat, @said.method(:<<))
    Cuttle.stub(:now, -> { signals.now }) { parting.run(20) }
  end
end
