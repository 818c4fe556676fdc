# frozen_string_literal: true

require "test_helper"

# Tests of hypotheses, against published tables and worked examples.
class TestLabHypotheses < Minitest::Test
  Statistics = Cuttle::Lab::Statistics

  # The worked example of Wikipedia's article on Holm's method.
  def test_holm
    assert_equal [0.03, 0.06, 0.06, 0.02], Statistics::Holm.adjust([0.01, 0.04, 0.03, 0.005]).map { |p| p.round(12) }
    assert_equal [1.0, 1.0], Statistics::Holm.adjust([0.6, 0.7])
    assert_equal [], Statistics::Holm.adjust([])
  end

  def test_levels_are_where_holm_decides
    assert_equal [0.025] * 3, Statistics::Holm.levels([0.02, 0.01, 0.001], 0.025)
    assert_equal [0.0125] * 2, Statistics::Holm.levels([0.02, 0.8], 0.025)
    ps = [0.001, 0.02, 0.9]
    levels = Statistics::Holm.levels(ps, 0.05)
    assert_equal(Statistics::Holm.adjust(ps).map { |p| p <= 0.05 }, ps.zip(levels).map { |p, level| p <= level })
  end

  # Student's own example (1908), hours of sleep gained by two drugs: t = 4.0621 with 9 degrees of freedom,
  # p = 0.002833, the mean difference 1.58 with the 95% interval 0.7001142 to 2.4598858.
  SLEEP = [[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
           [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]].freeze

  def test_paired_ratio
    one, other = SLEEP.map { |hours| hours.map { |hour| Math.exp(hour) } }
    ratio = Statistics.paired_ratio(one, other)

    assert_in_delta 1.58, Math.log(ratio.value), 1e-9
    assert_in_delta 0.7001142, Math.log(ratio.low), 1e-6
    assert_in_delta 2.4598858, Math.log(ratio.high), 1e-6
    assert_in_delta 0.002833, Statistics::Paired.of(one, other).p, 0.0000005
  end

  def test_pairs_are_by_block
    ratio = Statistics.paired_ratio({ 0 => 10, 1 => 20, 2 => 5, 4 => 0 }, { 2 => 10, 1 => 40, 3 => 7, 4 => 8 })

    assert_equal [2.0, 2], [ratio.value.round(12), ratio.count]
  end

  def test_too_few_pairs_say_nothing
    one = Statistics.paired_ratio([10], [12])

    assert_in_delta 1.2, one.value, 1e-12
    refute one.interval?
    assert_nil Statistics::Paired.of([10], [12]).p
    assert_nil Statistics.paired_ratio({ 0 => 1 }, { 1 => 1 })
  end

  # Four rounds of 5 and 6, each known to within a half: a standard error of sqrt((1/25 + 1/36) / 12).
  def test_ratios_that_never_vary_are_no_more_precise_than_their_values
    rounding = Statistics.rounding(1 / 5.0, 1 / 6.0)
    rounded = Statistics::Paired.of([5] * 4, [6] * 4, rounding: rounding)
    reach = 3.182446 * 0.0751542 # t with 3 degrees of freedom

    assert_in_delta 0.0751542, rounding, 1e-6
    assert_in_delta 1.2 * Math.exp(reach), rounded.estimate.high, 1e-4
    assert_in_delta 0.0937, rounded.p, 0.001
    assert_equal 1.0, Statistics::Paired.of([5] * 4, [6] * 4).p
  end

  def test_inverse
    paired = Statistics::Paired.of([10, 11, 12], [12, 12.5, 15])
    there, back = [paired, paired.inverse].map(&:estimate)

    assert_in_delta 1, there.value * back.value, 1e-12
    assert_in_delta 1, there.low * back.high, 1e-12
    assert_in_delta paired.p, paired.inverse.p, 1e-12
  end

  # By the noncentral t distribution, which test_distributions holds against published figures.
  def test_detectable_effect_is_found_with_that_power
    random = Random.new(5)
    effect = Statistics::Power.detectable(1.0, 5, level: 0.05, power: 0.9)
    ps = Array.new(2000) { Statistics::Paired.new(Array.new(5) { effect + gauss(random) }).p }

    assert_in_delta 1800, ps.count { |p| p <= 0.05 }, 60
    assert_nil Statistics::Power.detectable(1.0, 1, level: 0.05, power: 0.9)
  end

  private

  def gauss(random)
    Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end
end
