# frozen_string_literal: true

require "test_helper"

# The histogram against what HdrHistogram promises and publishes, and against exact arithmetic.
class TestLoadHistogram < Minitest::Test
  Histogram = Cuttle::Load::Histogram
  MICROSECOND = 1000

  # The values of HdrHistogram's HistogramDataAccessTest: 10,000 of 1 ms and one of 100 s.
  def skewed
    histogram = Histogram.new
    10_000.times { histogram.record(1000 * MICROSECOND) }
    histogram.record(100_000_000 * MICROSECOND)
  end

  def test_published_values
    histogram = skewed

    assert_equal 10_001, histogram.count
    assert_in_delta 1000 * MICROSECOND, histogram.value_at(30), MICROSECOND
    assert_in_delta 1000 * MICROSECOND, histogram.value_at(99), MICROSECOND
    assert_in_delta 1000 * MICROSECOND, histogram.value_at(99.99), MICROSECOND
    assert_in_delta 100_000_000 * MICROSECOND, histogram.value_at(99.999), 100_000 * MICROSECOND
    assert_in_delta 100_000_000 * MICROSECOND, histogram.value_at(100), 100_000 * MICROSECOND
    assert_in_delta 99.99, 100.0 * histogram.count_to(5000 * MICROSECOND) / histogram.count, 0.0001
    assert_in_delta 100.0, 100.0 * histogram.count_to(100_000_000 * MICROSECOND) / histogram.count, 0.0001
  end

  def test_mean_and_deviation_are_exact
    mean = (10_000 * 1000.0 + 100_000_000) / 10_001
    variance = (10_000 * (1000.0 - mean)**2 + (100_000_000 - mean)**2) / 10_001
    histogram = skewed

    assert_in_delta mean * MICROSECOND, histogram.mean, 1
    assert_in_delta Math.sqrt(variance) * MICROSECOND, histogram.deviation, 1000
    assert_equal 1000 * MICROSECOND, histogram.min
    assert_equal 100_000_000 * MICROSECOND, histogram.max
  end

  def test_three_significant_digits_from_a_microsecond_to_an_hour
    random = Random.new(1)
    values = (0..41).flat_map { |power| [2**power, 2**power - 1, 2**power + 1] } +
             Array.new(5000) { (10**(3 + random.rand * 9.55)).to_i }
    values.select { |value| value.between?(MICROSECOND, Histogram::MAX) }.each do |value|
      index = Histogram.index(value)
      low = Histogram.lowest(index)
      high = Histogram.highest(index)

      assert_operator low, :<=, value
      assert_operator high, :>=, value
      assert_operator high - low, :<=, value / 1000.0, "the slot of #{value} is too wide"
    end
  end

  def test_slots_follow_each_other_without_a_gap
    (0..33_000).each { |index| assert_equal Histogram.highest(index) + 1, Histogram.lowest(index + 1) }
  end

  def test_percentiles_are_those_of_the_sorted_values
    random = Random.new(2)
    values = Array.new(10_007) { (Math.exp(random.rand * 15) * MICROSECOND).to_i }
    histogram = values.each_with_object(Histogram.new) { |value, sum| sum.record(value) }
    sorted = values.sort
    [0.01, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100].each do |percentile|
      exact = sorted[[(percentile / 100.0 * values.length).ceil, 1].max - 1]

      assert_in_delta exact, histogram.value_at(percentile), exact / 1000.0, "p#{percentile}"
    end
  end

  def test_ranks_are_not_lost_to_rounding
    histogram = (1..1000).each_with_object(Histogram.new) { |value, sum| sum.record(value) }

    [0.1, 7, 14, 28, 29, 55, 56, 57, 58, 99.9].each do |percentile|
      assert_equal (percentile * 10).round, histogram.value_at(percentile)
    end
  end

  def test_merging_is_exact
    random = Random.new(3)
    values = Array.new(3000) { random.rand(10**10) }
    whole = values.each_with_object(Histogram.new) { |value, sum| sum.record(value) }
    parts = values.each_slice(700).map do |slice|
      slice.each_with_object(Histogram.new) { |value, sum| sum.record(value) }
    end
    merged = Cuttle::Load::Histograms.sum(parts.shuffle(random: random))

    assert_equal whole.pairs, merged.pairs
    %i[count min max sum clipped].each do |figure|
      assert_equal whole.public_send(figure), merged.public_send(figure), figure
    end
    assert_in_delta whole.deviation, merged.deviation, 1
  end

  def test_a_hash_holds_all_of_it
    restored = Cuttle::Load::Histograms.fill(Histogram.new, Cuttle::Load::Histograms.to_h(skewed))

    assert_equal Cuttle::Load::Histograms.to_h(skewed), Cuttle::Load::Histograms.to_h(restored)
  end

  def test_adding_a_histogram_many_times
    twice = Histogram.new.add(skewed, 2)

    assert_equal 20_002, twice.count
    assert_equal skewed.value_at(50), twice.value_at(50)
  end

  def test_a_cleared_one_is_as_a_new_one
    histogram = Histogram.new.add(skewed).record(Histogram::MAX * 2).clear
    assert_equal Cuttle::Load::Histograms.to_h(Histogram.new), Cuttle::Load::Histograms.to_h(histogram)
    assert_equal Cuttle::Load::Histograms.to_h(skewed), Cuttle::Load::Histograms.to_h(histogram.add(skewed))
  end

  def test_values_out_of_range_are_clipped_and_counted
    histogram = Histogram.new.record(-5).record(Histogram::MAX * 2)

    assert_equal 0, histogram.min
    assert_equal Histogram::MAX, histogram.max
    assert_equal 1, histogram.clipped
    assert_equal Histogram::MAX, histogram.value_at(100)
  end

  def test_an_empty_one
    histogram = Histogram.new

    assert_equal [0, 0, 0, 0], [histogram.count, histogram.min, histogram.max, histogram.value_at(50)]
    assert_equal [], histogram.pairs
    assert_equal 0, histogram.count_to(10**9)
  end

  def test_wrong_arguments_are_refused
    histogram = Histogram.new

    assert_raises(ArgumentError) { histogram.value_at(101) }
    assert_raises(ArgumentError) { histogram.fill([1], 0, 0, 0, 0, 0) }
    assert_raises(ArgumentError) { histogram.fill([10**6, 1], 0, 0, 0, 0, 0) }
    assert_raises(ArgumentError) { Histogram.index(-1) }
    assert_raises(TypeError) { histogram.add("nothing") }
  end
end
