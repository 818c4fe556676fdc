# frozen_string_literal: true

require "test_helper"

# Intervals: against published ranks, and by how often, over many seeded samples, they hold what they should.
class TestLabIntervals < Minitest::Test
  Statistics = Cuttle::Lab::Statistics
  Ranks = Statistics::Ranks

  # Ranks of 95% intervals of the median and what they hold: Le Boudec, Performance Evaluation (2010), appendix A.
  MEDIANS = { 6 => [1, 6, 0.969], 10 => [2, 9, 0.979], 15 => [4, 12, 0.965], 20 => [6, 15, 0.959],
              30 => [10, 21, 0.957] }.freeze

  def test_ranks_of_medians
    MEDIANS.each do |count, (low, high, held)|
      assert_equal [low, high], Ranks.ranks(count, 0.5)
      assert_in_delta held, Ranks.at_most(high - 1, count, 0.5) - Ranks.at_most(low - 1, count, 0.5), 0.0006
    end
  end

  def test_too_few_values_have_no_bound
    assert_equal [nil, nil], Ranks.ranks(5, 0.5)
    low, high = Ranks.ranks(100, 0.99)
    refute_nil low
    assert_nil high
  end

  # By exact sums: each side is held with at least 97.5%, and a rank nearer would not be.
  def test_ranks_are_the_nearest_that_hold
    [[40, 0.5], [200, 0.9], [500, 0.95], [900, 0.99]].each do |count, share|
      low, high = Ranks.ranks(count, share)
      below = cumulated(count, Rational((share * 100).round, 100))

      assert_operator below[low - 1], :<=, 0.025
      assert_operator below[low], :>, 0.025
      assert_operator 1 - below[high - 1], :<=, 0.025
      assert_operator 1 - below[high - 2], :>, 0.025
    end
  end

  def test_percentile_of_a_histogram
    histogram = Cuttle::Load::Histogram.new
    (1..1000).to_a.shuffle(random: Random.new(1)).each { |value| histogram.record(value) }
    estimate = Statistics::Ranks.estimate(histogram, 50)

    assert_equal [500, *Ranks.ranks(1000, 0.5), 1000], estimate.to_a
    assert_nil Statistics::Ranks.estimate(Cuttle::Load::Histogram.new, 50)
  end

  def test_millions_of_values
    low, high = Ranks.ranks(3_000_000, 0.99)
    reach = 1.959964 * Math.sqrt(3_000_000 * 0.99 * 0.01)

    assert_in_delta 2_970_000 - reach, low, 2
    assert_in_delta 2_970_000 + reach, high, 2
  end

  # As lab runs are: scattered by a share of the value, now and then slow.
  def test_median_intervals_hold_the_median
    { 2 => 1000, 3 => 1000, 4 => 1000, 5 => 1000, 6 => 400, 10 => 400 }.each do |count, samples|
      random = Random.new(count)
      held = Array.new(samples) { Statistics.median_interval(Array.new(count) { 100 * Math.exp(0.1 * gauss(random)) }) }
      wanted = 0.95 - 2 * Math.sqrt(0.95 * 0.05 / samples)
      count_held = held.count { |estimate| 100.between?(estimate.low, estimate.high) }
      assert_operator count_held, :>=, samples * wanted, "of #{count}"
    end
  end

  # The plain percentile bootstrap of a mean of 5 holds about 84%, instead of 95: the expanded one must be honest.
  def test_bootstrap_coverage
    random = Random.new(11)
    plain = expanded = 0
    300.times do
      values = Array.new(5) { gauss(random) }
      percentile = Cuttle::Load::Statistics.bootstrap(5, 0, resamples: 800) { |pick,| [mean(values.values_at(*pick))] }
      plain += 1 if 0.between?(*percentile.first)
      estimate = Statistics::Bootstrap.estimate(values, resamples: 800) { |blocks| mean(blocks) }
      expanded += 1 if 0.between?(estimate.low, estimate.high)
    end

    assert_operator plain, :<, 300 * 0.9
    assert_operator expanded, :>=, 300 * 0.92
  end

  # Values within a block are alike, so that blocks are what is drawn: intervals by single values would be too narrow.
  def test_bootstrap_draws_whole_blocks
    random = Random.new(13)
    blocks = Array.new(8) { |block| Array.new(50) { block + random.rand / 10 } }
    estimate = Statistics::Bootstrap.estimate(blocks) { |picked| mean(picked.flatten) }

    assert_operator estimate.high - estimate.low, :>, 2 * 1.96 * 2.3 / Math.sqrt(8) * 0.9
    assert_equal 8, estimate.count
    assert_equal estimate, Statistics::Bootstrap.estimate(blocks) { |picked| mean(picked.flatten) }
  end

  def test_one_value_has_no_interval
    assert_equal [7, nil, nil, 1], Statistics.median_interval([7]).to_a
    refute Statistics::Bootstrap.estimate([7], &:sum).interval?
  end

  def test_values_that_are_no_ratio
    low, high = Statistics::Student.interval([-1.0, 0.0, 1.0], 0.95)
    assert_in_delta(-4.303 / Math.sqrt(3), low, 0.001)
    assert_in_delta 4.303 / Math.sqrt(3), high, 0.001
  end

  private

  # P(B <= k) for each k.
  def cumulated(count, share)
    chance = (1 - share)**count
    sum = 0r
    (0..count).map do |k|
      sum += chance
      chance = chance * (count - k) / (k + 1) * share / (1 - share)
      sum.to_f
    end
  end

  def mean(values)
    Cuttle::Load::Statistics.mean(values)
  end

  def gauss(random)
    Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end
end
