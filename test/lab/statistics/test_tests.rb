# frozen_string_literal: true

require "test_helper"

# Tests of hypotheses, against published tables and worked examples.
class TestLabHypotheses < Minitest::Test
  Statistics = Cuttle::Lab::Statistics
  MannWhitney = Statistics::MannWhitney

  # Critical values of U, two-sided at 5%, as in any table of the test: the greatest U that is significant.
  CRITICAL_U = { [4, 4] => 0, [5, 5] => 2, [3, 5] => 0, [5, 8] => 6, [6, 6] => 5, [7, 10] => 14, [8, 8] => 13,
                 [10, 10] => 23, [9, 12] => 26, [15, 15] => 64 }.freeze

  def test_table_of_u
    CRITICAL_U.each do |(one, other), critical|
      assert_operator MannWhitney.exact(*with_u(one, other, critical)), :<=, 0.05, "#{one}, #{other}"
      assert_operator MannWhitney.exact(*with_u(one, other, critical + 1)), :>, 0.05, "#{one}, #{other}"
    end
  end

  def test_smallest_p_of_five_and_five
    assert_in_delta 2 / 252.0, Statistics.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 1e-12
    assert_in_delta 2 / 20.0, Statistics.mann_whitney([6, 7, 8], [1, 2, 3]), 1e-12
  end

  # Hollander and Wolfe, permeability constants of the placenta: W = 35, one-sided p = 0.1272, shift 0.305.
  TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46].freeze
  EARLIER = [1.15, 0.88, 0.90, 0.74, 1.21].freeze

  def test_hollander_and_wolfe
    assert_equal 35, MannWhitney.u(TERM, EARLIER)
    assert_in_delta 2 * 0.1272, Statistics.mann_whitney(TERM, EARLIER), 0.0001
    assert_in_delta(-0.305, Statistics.hodges_lehmann(TERM, EARLIER).value, 1e-9)
  end

  # R's documentation of wilcox.test: ozone in New York in May and August 1973, with ties; W = 127.5, p = 0.0001208.
  MAY = [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37].freeze
  AUGUST = [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84,
            85].freeze

  def test_normal_approximation_with_ties
    assert_equal 127.5, MannWhitney.u(MAY, AUGUST)
    assert_in_delta 0.0001208, Statistics.mann_whitney(MAY, AUGUST), 0.00000005
  end

  # Of ties: every way to deal the values out, counted one by one.
  def test_exact_with_ties_counts_every_deal
    [[[1, 1, 2], [2, 3, 3, 4]], [[5, 5, 5], [5, 5]], [[1, 2, 2, 9], [2, 2, 3, 3, 3]]].each do |a, b|
      assert_in_delta by_hand(a, b), MannWhitney.exact(a, b), 1e-12
    end
  end

  def test_approximation_is_near_the_exact
    random = Random.new(3)
    a, b = Array.new(2) { |shift| Array.new(14) { random.rand + shift * 0.25 } }

    assert_in_delta MannWhitney.exact(a, b), MannWhitney.normal(a, b), 0.01
    assert_equal 1.0, MannWhitney.normal([1] * 20, [1] * 20)
  end

  # The worked example of Wikipedia's article on Holm's method.
  def test_holm
    assert_equal [0.03, 0.06, 0.06, 0.02], Statistics.holm([0.01, 0.04, 0.03, 0.005]).map { |p| p.round(12) }
    assert_equal [1.0, 1.0], Statistics.holm([0.6, 0.7])
    assert_equal [], Statistics.holm([])
  end

  def test_levels_are_where_holm_decides
    assert_equal [0.025] * 3, Statistics::Holm.levels([0.02, 0.01, 0.001], 0.025)
    assert_equal [0.0125] * 2, Statistics::Holm.levels([0.02, 0.8], 0.025)
    ps = [0.001, 0.02, 0.9]
    levels = Statistics::Holm.levels(ps, 0.05)
    assert_equal(Statistics.holm(ps).map { |p| p <= 0.05 }, ps.zip(levels).map { |p, level| p <= level })
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
    effect = Statistics.minimum_detectable_effect(1.0, 5)
    ps = Array.new(2000) { Statistics::Paired.new(Array.new(5) { effect + gauss(random) }).p }

    assert_in_delta 1800, ps.count { |p| p <= 0.05 }, 60
    assert_nil Statistics.minimum_detectable_effect(1.0, 1)
  end

  private

  # Samples without ties of which U, of the first, is +value+.
  def with_u(one, other, value)
    below, rest = value.divmod(other)
    places = Array.new(one) { |index| index < below ? other : 0 }
    places[below] = rest if below < one
    [places.each_with_index.map { |place, index| place + (index + 1) / 1000.0 }, (1..other).map { |each| each - 0.5 }]
  end

  def by_hand(a, b)
    all = a + b
    middle = a.length * b.length / 2.0
    distances = all.each_index.to_a.combination(a.length).map do |picked|
      rest = all.each_index.to_a - picked
      (wins(all.values_at(*picked), all.values_at(*rest)) - middle).abs
    end
    distances.count { |each| each >= (wins(a, b) - middle).abs - 1e-9 }.fdiv(distances.length)
  end

  def wins(a, b)
    a.product(b).sum { |one, other| one > other ? 1 : (one == other ? 0.5 : 0) }
  end

  def gauss(random)
    Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end
end
