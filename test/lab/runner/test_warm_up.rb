# frozen_string_literal: true

require "test_helper"

# Warm until steady, or said to be not.
class TestLabWarmUp < Minitest::Test
  Piece = Struct.new(:rate, :responses, :stopped) do
    def interrupted?
      stopped
    end
  end

  def test_two_pieces_of_the_same_rate_are_steady
    assert_equal [true, 3], warm(500, 900, 905, 100)
  end

  def test_a_rate_that_goes_on_changing_is_not
    assert_equal [false, 4], warm(100, 200, 400, 800)
  end

  def test_few_responses_may_differ_by_chance
    assert_equal [true, 2], warm(100, 130, responses: 10)
    assert_equal [false, 4], warm(100, 130, 170, 230, responses: 10_000)
  end

  def test_no_responses_are_not_steady
    assert_equal [false, 4], warm(0, 0, 0, 0, responses: 0)
  end

  def test_an_interruption_ends_it
    calls = 0
    steady = Cuttle::Lab::Runner::WarmUp.new(1) { (calls += 1) && Piece.new(1, 1, true) }.call
    assert_nil steady
    assert_equal 1, calls
  end

  def test_no_time_is_no_warm_up
    assert_nil Cuttle::Lab::Runner::WarmUp.new(0) { flunk }.call
  end

  private

  def warm(*rates, responses: 10_000)
    calls = 0
    steady = Cuttle::Lab::Runner::WarmUp.new(1) { Piece.new(rates[(calls += 1) - 1], responses, false) }.call
    [steady, calls]
  end
end
