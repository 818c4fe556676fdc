# frozen_string_literal: true

require "test_helper"

# The fibers engine's fibers: which one runs the next request, and when one ends.
class TestFiberPool < Minitest::Test
  Pool = Cuttle::Engines::Fibers::Pool

  def setup
    @seen = {}.compare_by_identity
    @waiting = []
    @served = []
    @pool = Pool.new { |exchange| serve(exchange) }
  end

  def test_the_fiber_that_was_used_last_is_used_next
    3.times { |number| @pool.run(number) }
    assert_equal [[0, 1, 2], 1], [@served, @seen.length]
  end

  def test_a_request_that_waits_keeps_its_fiber
    wait(3)
    @pool.run(:meanwhile)
    @waiting.each(&:resume)
    assert_equal [%i[meanwhile wait wait wait], 4], [@served, @seen.length]
    3.times { |number| @pool.run(number) }
    assert_equal 4, @seen.length
  end

  # Idle fibers that somebody else resumed are still idle, and those that were ended are not used.
  def test_what_strangers_do_to_idle_fibers
    wait(3)
    @waiting.each(&:resume)
    @waiting.first.resume
    assert_raises(RuntimeError) { @waiting.last.raise("ended") }
    wait(3)
    assert_equal 4, @seen.length
  end

  def test_fibers_of_a_burst_end_when_they_are_not_needed
    wait(20)
    @waiting.each(&:resume)
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

  private

  def wait(count)
    @waiting.clear
    count.times { @pool.run(:wait) }
  end

  def serve(exchange)
    @seen[Fiber.current] = true
    raise Interrupt if exchange == :interrupt

    Fiber.yield(@waiting << Fiber.current) if exchange == :wait
    @served << exchange
  end
end
