# frozen_string_literal: true

require "test_helper"

# The generator's own proof, with room for a machine that is busy with other tests.
class TestLoadSelfTest < Minitest::Test
  def test_it_proves_itself
    seen = []
    checks = Cuttle::Load::SelfTest.new(margin: 40).run { |check| seen << check }

    assert_equal checks, seen
    assert_operator checks.length, :>=, 15
    assert_empty(checks.reject(&:passed).map { |check| "#{check.name}: #{check.detail}" })
  end

  def test_a_generator_that_lies_is_found_out
    test = Cuttle::Load::SelfTest.new
    wanted = test.exponential_delays(2000)
    honest = result_of(wanted.map { |delay| delay * 1e9 })
    lying = result_of(wanted.map { |delay| delay * 1.05e9 })

    assert(Cuttle::Load::SelfTest::PERCENTILES.all? { |percentile| test.delay_check(percentile, wanted, honest).passed })
    assert(Cuttle::Load::SelfTest::PERCENTILES.none? { |percentile| test.delay_check(percentile, wanted, lying).passed })
  end

  def result_of(times)
    histogram = times.each_with_object(Cuttle::Load::Histogram.new) { |time, sum| sum.record(time.round) }
    Struct.new(:latency, :failures).new(histogram, 0)
  end
end
