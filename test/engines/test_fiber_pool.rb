# frozen_string_literal: true

require "test_helper"

# The fibers engine's fibers: which one runs the next request, and when one ends.
class TestFiberPool < Minitest::Test
  Pool = Cuttle::Engines::Fibers::Pool

  # In a process that was not forked.
  Poller = Struct.new(:forked?)

  def setup
    @loop = Fiber.current
    @strands = Cuttle::Engines::Fibers::Strands.new(Poller.new(false))
    @seen = {}.compare_by_identity
    @waiting = []
    @served = []
    @pool = Pool.new(@strands) { |exchange| serve(exchange) }
  end

  def test_the_fiber_that_was_used_last_is_used_next
    3.times { |number| @pool.run(number) }
    assert_equal [[0, 1, 2], 1], [@served, @seen.length]
  end

  def test_a_request_that_waits_keeps_its_fiber
    wait(3)
    @pool.run(:meanwhile)
    @waiting.each { |fiber| @strands.go(fiber) }
    assert_equal [%i[meanwhile wait wait wait], 4], [@served, @seen.length]
    3.times { |number| @pool.run(number) }
    assert_equal 4, @seen.length
  end

  # Nobody else resumes one, those to which somebody else transferred are still idle, and those that were ended are not
  # used.
  def test_what_strangers_do_to_idle_fibers
    wait(3)
    @waiting.each { |fiber| @strands.go(fiber) }
    assert_raises(FiberError) { @waiting.first.resume }
    @waiting.first.transfer
    assert_raises(RuntimeError) { @waiting.last.raise("ended") }
    wait(3)
    assert_equal 4, @seen.length
  end

  def test_fibers_of_a_burst_end_when_they_are_not_needed
    wait(20)
    @waiting.each { |fiber| @strands.go(fiber) }
    (2 * Pool::ROUND).times { @pool.run(:one) }
    assert_equal 1, @seen.keys.count(&:alive?)
    wait(3)
    assert_equal 3, @seen.keys.count(&:alive?)
  end

  def test_an_exception_of_the_work_is_the_callers
    assert_raises(Interrupt) { @pool.run(:interrupt) }
    @pool.run(:next)
    assert_equal [:next], @served
  end

  # When a fiber ends that was not resumed, Ruby continues the loop. Its value or exception belongs to the app.
  def test_fibers_to_which_the_app_transfers_and_that_end
    @pool.run(-> { @served << Fiber.new { "returned" }.transfer })
    @pool.run(-> { Fiber.new { raise FiberError, "raised" }.transfer rescue @served << $!.message })
    @pool.run(:next)
    assert_equal ["returned", :done, "raised", :done, :next], @served
    assert_equal 1, @seen.length
  end

  private

  def wait(count)
    @waiting.clear
    count.times { @pool.run(:wait) }
  end

  def serve(exchange)
    @seen[Fiber.current] = true
    raise Interrupt if exchange == :interrupt

    @waiting << Fiber.current and @loop.transfer(@loop) if exchange == :wait
    exchange.call if exchange.is_a?(Proc)
    @served << (exchange.is_a?(Proc) ? :done : exchange)
  end
end
