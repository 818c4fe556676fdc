# frozen_string_literal: true

require "test_helper"

# The distributions that everything else is made of, against published tables.
class TestLoadDistributions < Minitest::Test
  Statistics = Cuttle::Load::Statistics
  Gamma = Statistics::Gamma

  # Two-sided critical values of Student's t: NIST/SEMATECH e-Handbook, 1.3.6.7.2.
  STUDENT = { [0.05, 1] => 12.706, [0.05, 2] => 4.303, [0.05, 4] => 2.776, [0.05, 9] => 2.262, [0.05, 30] => 2.042,
              [0.01, 2] => 9.925, [0.01, 4] => 4.604, [0.002, 4] => 7.173, [0.1, 10] => 1.812,
              [0.05, 100] => 1.984 }.freeze

  def test_student_table
    STUDENT.each do |(level, degrees), t|
      assert_in_delta t, Statistics::Student.critical(level, degrees), 0.0006, "#{level} #{degrees}"
      assert_in_delta level, Statistics::Student.two_sided(-t, degrees), level * 0.003
    end
  end

  # With 1 degree of freedom it is Cauchy's distribution, far out as well.
  def test_student_far_out
    [1, 10, 1e4, 1e8].each do |t|
      assert_in_epsilon 2 / Math::PI * Math.atan(1 / t.to_f), Statistics::Student.two_sided(t, 1), 1e-9
    end
    assert_equal 0.0, Statistics::Student.two_sided(Float::INFINITY, 3)
  end

  # A run without a response has the rate 0, which has no logarithm.
  def test_what_is_never_negative_has_no_negative_bound
    low, high = Statistics::Student.interval([0.0, 32.5, 37.5], 0.95)
    assert_equal 0.0, low
    assert_operator high, :>, 37.5
    assert_operator Statistics::Student.interval([-1.0, 32.5, 37.5], 0.95).first, :<, -1
    assert_operator Statistics::Student.interval([30.0, 32.5, 37.5], 0.95).first, :>, 20
  end

  def test_normal_table
    assert_in_delta 0.975, Statistics::Normal.below(1.959964), 1e-6
    assert_in_delta 0.995, Statistics::Normal.below(2.575829), 1e-6
    assert_in_delta 0.841345, Statistics::Normal.below(1), 1e-6
  end

  # Abramowitz and Stegun, chapter 6; half-way values by their closed forms.
  def test_derivatives_of_gamma
    assert_in_delta(-0.5772156649015329, Gamma.digamma(1), 1e-13)
    assert_in_delta(-1.9635100260214235, Gamma.digamma(0.5), 1e-13)
    assert_in_delta 2.2517525890667211, Gamma.digamma(10), 1e-13
    assert_in_delta Math::PI**2 / 6, Gamma.trigamma(1), 1e-13
    assert_in_delta Math::PI**2 / 2, Gamma.trigamma(0.5), 1e-13
    assert_in_delta 0.1051663356816857, Gamma.trigamma(10), 1e-13
    assert_in_delta Math::PI**4 / 15, Gamma.pentagamma(1), 1e-9
    assert_in_delta Math::PI**4, Gamma.pentagamma(0.5), 1e-8
    assert_in_delta 3.7, Gamma.inverse_trigamma(Gamma.trigamma(3.7)), 1e-9
  end

  # The beta function's as sums of binomial chances.
  def test_beta
    [[0.5, 2, 3], [0.1, 5, 4], [0.9, 5, 4], [0.37, 40, 61], [0.999, 700, 3]].each do |x, a, b|
      assert_in_epsilon binomial_tail(a, a + b - 1, x), Statistics::Beta.regularized(x, a, b), 1e-9
    end
    assert_equal [0.0, 1.0], [0, 1].map { |x| Statistics::Beta.regularized(x, 2, 3) }
  end

  def test_beta_of_millions
    assert_in_delta 0.5, Statistics::Beta.regularized(0.5, 2e6, 2e6), 1e-7
  end

  # R's documentation of power.t.test: 20 in each of two samples, a shift of one deviation, power 0.8689528; and power
  # 0.9 at 22.02110.
  def test_power
    { 20 => 0.8689528, 22.02110 => 0.9 }.each do |count, power|
      degrees = 2 * count - 2
      critical = Statistics::Student.critical(0.05, degrees)
      assert_in_delta power, above(critical, degrees, Math.sqrt(count / 2.0)), 1e-6
    end
  end

  def test_power_without_a_shift_is_the_level
    [1, 2, 4, 9, 40].each do |degrees|
      assert_in_delta 0.025, above(Statistics::Student.critical(0.05, degrees), degrees, 0), 1e-5
    end
  end

  private

  def above(t, degrees, shift)
    Statistics::Power.above(t, Statistics::Power.pieces(degrees), shift)
  end

  # P(B >= successes), exactly.
  def binomial_tail(successes, trials, chance)
    share = chance.to_r
    (successes..trials).sum { |k| choose(trials, k) * share**k * (1 - share)**(trials - k) }.to_f
  end

  def choose(total, part)
    (1..part).reduce(1) { |product, k| product * (total - k + 1) / k }
  end
end
