# frozen_string_literal: true

require "test_helper"

# Statistics against published tables.
class TestLoadStatistics < Minitest::Test
  Statistics = Cuttle::Load::Statistics

  # Critical values of Kolmogorov's distribution: 1.2238, 1.3581, 1.6276 for 0.1, 0.05, 0.01.
  def test_kolmogorov_table
    { 1.22385 => 0.1, 1.35810 => 0.05, 1.62762 => 0.01, 1.94947 => 0.001 }.each do |value, chance|
      assert_in_delta chance, Statistics.kolmogorov(value), chance * 0.001
    end
    assert_equal 1.0, Statistics.kolmogorov(0.0)
  end

  def test_kolmogorov_smirnov_distance
    distance, = Statistics.kolmogorov_smirnov([0.1, 0.5, 0.6]) { |value| value }

    assert_in_delta 0.4, distance, 1e-9
  end

  def test_kolmogorov_smirnov_tells_distributions_apart
    random = Random.new(1)
    uniform = Array.new(1000) { random.rand }

    assert_operator Statistics.kolmogorov_smirnov(uniform) { |value| value }[1], :>, 0.01
    assert_operator Statistics.kolmogorov_smirnov(uniform) { |value| value**1.2 }[1], :<, 0.001
  end

  # Anscombe's first quartet, of which x has mean 9 and sample variance 11, and y mean 7.50 and variance 4.127.
  def test_mean_and_deviation
    assert_in_delta 9, Statistics.mean([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]), 1e-12
    assert_in_delta Math.sqrt(11), Statistics.deviation([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]), 1e-12
    assert_in_delta 2.031568,
                    Statistics.deviation([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]), 1e-5
  end

  # As R's quantile(c(1, 2, 4, 8)) says.
  def test_quantiles
    assert_equal [1, 1.75, 3, 5, 8], [0, 0.25, 0.5, 0.75, 1].map { |share| Statistics.quantile([8, 1, 4, 2], share) }
    assert_equal 1, Statistics.spread([1, 2, 3, 4, 100])
  end

  # Efron and Tibshirani (1993), table 2.1, the mouse data: means 86.86 and 56.22, whose difference has a bootstrap
  # standard error of about 27, so that an interval of it holds zero.
  def test_bootstrap_interval
    treated = [94, 197, 16, 38, 99, 141, 23]
    control = [52, 104, 146, 10, 51, 30, 40, 27, 46]
    low, high = Statistics.bootstrap(treated.length, control.length, resamples: 4000) do |one, other|
      [Statistics.mean(treated.values_at(*one)) - Statistics.mean(control.values_at(*other))]
    end.first

    assert_operator low, :<, 0
    assert_in_delta 30.63, (low + high) / 2, 6
    assert_in_delta 2 * 1.96 * 26.9, high - low, 12
  end

  # Of two samples of 5, the plain percentile method's intervals hold the truth in about 88 of 100 cases.
  def test_expanded_intervals_hold_what_they_promise
    random = Random.new(7)
    plain, expanded = [0.95, Statistics.expanded(0.95, 5)].map do |confidence|
      300.times.count { holds?(Array.new(2) { Array.new(5) { gauss(random) } }, confidence) }
    end

    assert_operator plain, :<, 300 * 0.92
    assert_operator expanded, :>=, 300 * 0.93
  end

  # As Student's t and the normal distribution say: sqrt(5 / 4) * 2.776 deviations.
  def test_expanded_tails
    assert_in_delta 1 - 2 * 0.000955, Statistics.expanded(0.95, 5), 0.00002
    assert_in_delta 0.95, Statistics.expanded(0.95, 100_000), 0.00001
  end

  private

  # Whether the interval of the difference of means of two samples of the same distribution holds 0.
  def holds?(samples, confidence)
    low, high = Statistics.bootstrap(5, 5, resamples: 400, confidence: confidence) do |*picks|
      one, other = samples.zip(picks).map { |sample, pick| Statistics.mean(sample.values_at(*pick)) }
      [other - one]
    end.first
    0.between?(low, high)
  end

  def gauss(random)
    Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end
end
