# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

# When octets arrive that pass through a slow network: exactly then, on a clock that no busy machine delays.
class TestFlow < Minitest::Test
  Network = Cuttle::Lab::Network
  Relay = Network::Relay
  require "cuttle/lab/network/event_loop"
  require "cuttle/lab/network/flow"

  # A loop whose time passes only while nothing can be read or written. It ends when nothing is left to do.
  class Loop < Network::EventLoop
    attr_reader :time

    def initialize
      super
      @time = 0.0
    end

    private

    def patience
      unless IO.select(@readers.keys, @writers.keys, nil, 0)
        @timers.empty? ? stop : @time = [@time, @timers.first.time].max
      end
      0
    end
  end

  def setup
    @sender, @source = UNIXSocket.pair
    @sink, @receiver = UNIXSocket.pair
  end

  def teardown
    [@sender, @source, @sink, @receiver].each(&:close)
  end

  def test_a_delay_counts_once
    assert_equal [0.4, 0.4], arrivals(Relay::Line.new(0.4, nil), 1)
  end

  def test_a_line_has_its_bandwidth
    first, last = arrivals(Relay::Line.new(0, 80_000), 40_000)
    assert_in_delta 0.02, first # one read's worth
    assert_in_delta 0.5, last
  end

  # More octets than may be in flight at once.
  def test_a_sender_that_has_to_wait_loses_no_time
    line = Relay::Line.new(0.1, 200_000)
    assert_operator line.capacity, :<, 100_000
    assert_in_delta 0.6, arrivals(line, 100_000).last
  end

  def test_a_delay_and_a_bandwidth_add_up
    first, last = arrivals(Relay::Line.new(0.1, 200_000), 60_000)
    assert_in_delta 0.12, first
    assert_in_delta 0.4, last
  end

  private

  # When the first of that many octets arrive, and their end.
  def arrivals(line, octets)
    events = Loop.new
    times = []
    Network::EventLoop.stub(:now, -> { events.time }) do
      Relay::Flow.new(events, @source, @sink, line) { nil }
      events.on_read(@receiver) { octets -= receive(events, times) }
      @sender.write("x" * octets)
      @sender.close_write
      events.run
    end
    assert_equal 0, octets
    times.values_at(0, -1)
  end

  # Returns the number of octets.
  def receive(events, times)
    times << events.time
    @receiver.readpartial(100_000).bytesize
  rescue EOFError
    events.on_read(@receiver)
    0
  end
end
