# frozen_string_literal: true

require "test_helper"

# The fibers engine's waits, and what ends each of them.
class TestStrands < Minitest::Test
  # In a process that was not forked.
  Poller = Struct.new(:forked?)

  def setup
    @strands = Cuttle::Engines::Fibers::Strands.new(Poller.new(false))
    @ends = []
  end

  # Within one turn, one fiber unblocks another one, whose time is over too. Its next wait ended at once: a sleep was
  # short.
  def test_a_wait_does_not_end_by_what_was_meant_for_the_one_before
    late = nil
    begin_strand { @strands.pause(0) || @strands.unblock(late) }
    late = begin_strand { 2.times { |number| @ends << @strands.pause(number.zero? ? 0 : nil, true) } }
    2.times { @strands.turn }
    assert_equal [false], @ends
    @strands.unblock(late)
    @strands.turn
    assert_equal [false, true], @ends
  end

  # Another thread may do so after the fiber is in a queue, and before it waits.
  def test_a_fiber_may_be_unblocked_before_it_waits
    begin_strand do
      @strands.unblock(Fiber.current)
      @ends << @strands.pause(nil, true)
    end
    @strands.turn
    assert_equal [true], @ends
  end

  def test_a_wait_for_a_descriptor_is_not_unblocked
    fiber = begin_strand { @ends << @strands.pause }
    @strands.unblock(fiber)
    @strands.turn
    assert_empty @ends
    @strands.go_on(fiber, IO::READABLE)
    @strands.turn
    assert_equal [IO::READABLE], @ends
  end

  # What a fiber waited for is closed while its time is over too: that is no error of what it waits for next.
  def test_an_exception_is_for_one_wait
    late = nil
    begin_strand { @strands.pause(0) || @strands.go_on(late, nil, IOError.new("closed")) }
    late = begin_strand { 2.times { |number| @ends << @strands.pause(number.zero? ? 0 : nil) } }
    2.times { @strands.turn }
    assert_equal [false], @ends
    assert_predicate late, :alive?
  end

  private

  def begin_strand(&block)
    Cuttle::Engines::Fibers::Strand.new(blocking: true, &block).tap { |strand| @strands.go(strand) }
  end
end
