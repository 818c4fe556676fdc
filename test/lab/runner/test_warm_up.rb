# frozen_string_literal: true

require "test_helper"

# Warm until steady, or reported as not steady.
class TestLabWarmUp < Minitest::Test
  # latency: a Load::Histogram.
  Piece = Struct.new(:latency, :stopped) do
    def interrupted?
      stopped
    end
  end

  def test_two_pieces_with_the_same_times_are_steady
    assert_equal [true, 3], warm(500, 900, 905, 100)
  end

  def test_times_that_go_on_changing_are_not
    assert_equal [false, 4], warm(100, 200, 400, 800)
  end

  # As it compiles its code.
  def test_a_server_that_gets_faster_has_more_time
    assert_equal [true, 8], warm(800, 560, 400, 280, 200, 140, 100, 100)
    assert_equal [false, 5], warm(800, 560, 400, 280, 1000)
  end

  def test_even_a_server_that_always_gets_faster_is_measured_at_last
    assert_equal [false, 20], warm(*Array.new(21) { |number| 800 * (0.8**number) }, seconds: 0.5)
    assert_equal [false, 8], warm(*Array.new(21) { |number| 800 * (0.8**number) }, seconds: 1.3)
  end

  def test_few_responses_may_differ_by_chance
    assert_equal [true, 2], warm(100, 112, responses: 100)
    assert_equal [false, 4], warm(100, 112, 126, 141, responses: 10_000)
  end

  # Whatever they are, they show nothing: neither the same times nor others.
  def test_too_few_responses_are_no_proof
    [[100] * 4, [100, 130, 100, 130]].each { |times| assert_equal [nil, 4], warm(*times, responses: 4) }
    assert_equal [nil, 4], warm(0, 0, 0, 0, responses: 0)
  end

  # Two of them together are enough.
  def test_pieces_with_few_responses_are_taken_together
    assert_equal [true, 4], warm(100, 101, 99, 100, responses: 20)
  end

  # Of runs in which each piece is a fifth faster, few pass; of steady ones, most do.
  def test_power
    random = Random.new(1)
    passed = [1.25, 1.0].map do |slower|
      times = Array.new(21) { |number| 8000 / (slower**number) }
      200.times.count { warm(*times, responses: 60, random: random, seconds: 0.5).first }
    end
    assert_operator passed[0], :<=, 20
    assert_operator passed[1], :>=, 180
  end

  def test_an_interruption_ends_it
    calls = 0
    steady = Cuttle::Lab::Runner::WarmUp.new(1) { (calls += 1) && Piece.new(nil, true) }.call
    assert_nil steady
    assert_equal 1, calls
  end

  # A piece ends with its last response, however late.
  def test_slow_responses_do_not_make_it_last_four_times_as_long
    now = 0.0
    calls = 0
    load = lambda do |seconds|
      now += seconds + 2
      calls += 1
      Piece.new(Cuttle::Load::Histogram.new, false)
    end
    Cuttle.stub(:now, -> { now }) { assert_nil Cuttle::Lab::Runner::WarmUp.new(1, &load).call }
    assert_equal 2, calls
  end

  def test_no_time_is_no_warm_up
    assert_nil Cuttle::Lab::Runner::WarmUp.new(0) { flunk }.call
  end

  private

  # Pieces with these mean times (ms), which vary by about 30%, and take so many seconds each. [whether it is steady,
  # number of pieces]
  def warm(*means, responses: 10_000, random: Random.new(1), seconds: 0)
    calls = 0
    warm_up = Cuttle::Lab::Runner::WarmUp.new(1) do
      histogram = Cuttle::Load::Histogram.new
      mean = means[(calls += 1) - 1]
      responses.times { |index| histogram.record((mean * 1e6 * factor(index, random)).round) }
      Piece.new(histogram, false)
    end
    Cuttle.stub(:now, -> { calls * seconds }) { [warm_up.call, calls] }
  end

  # As many short as long ones.
  def factor(index, random)
    index.even? ? 0.7 + (0.01 * random.rand) : 1.29 + (0.01 * random.rand)
  end
end
