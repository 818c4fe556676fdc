# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# The few statistics that the benchmarks' tables are made of.
class TestBenchmarkStatistics < Minitest::Test
  S = Bench::Statistics

  def test_median
    assert_nil S.median([])
    assert_equal 3, S.median([9, 3, 1])
    assert_equal 2.5, S.median([4, 1, 3, 2])
  end

  def test_paired_ratio_takes_each_round_by_itself
    # The second round ran at half speed for both: medians of each side would say 1.5 here.
    assert_equal 2.0, S.paired_ratio({ 1 => 200, 2 => 100, 3 => 240 }, { 1 => 100, 2 => 50, 3 => 80 })
  end

  def test_paired_ratio_uses_the_rounds_that_both_have
    assert_equal 3.0, S.paired_ratio({ 1 => 30, 2 => 1 }, { 1 => 10, 3 => 5 })
    assert_nil S.paired_ratio({ 1 => 30 }, { 2 => 10 })
    assert_nil S.paired_ratio({ 1 => 30 }, { 1 => 0 })
  end
end
