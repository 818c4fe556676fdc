# frozen_string_literal: true

require "test_helper"

# What is learnt of variances: from variances made by the model itself, and where there is nothing to learn.
class TestLabNoise < Minitest::Test
  Noise = Cuttle::Lab::Statistics::Noise

  # True variances from a scaled inverse chi-square with 6 degrees of freedom about 0.0004, known with 2 each.
  def test_finds_the_prior
    random = Random.new(1)
    noise = Noise.of(Array.new(3000) { [6 * 0.0004 / chi_square(6, random) * chi_square(2, random) / 2, 2] })

    assert_in_delta 6, noise.degrees, 1.5
    assert_in_delta 0.0004, noise.variance, 0.00004
  end

  # The more of them there are, the surer it is that they are alike.
  def test_equal_variances
    random = Random.new(2)
    few, many = [8, 800].map { |count| Noise.of(Array.new(count) { [chi_square(4, random) / 4, 4] }) }

    assert_in_delta 1, many.variance, 0.1
    assert_operator many.degrees, :>, 20
    assert_operator few.degrees, :<, 10
  end

  def test_the_same_starts_teach_once
    variances = [[1.0, 4], [1.2, 4], [0.8, 4], [0.9, 4], [1.1, 4], [1.0, 4]]

    assert_operator Noise.of(variances * 3).degrees, :>, Noise.of(variances).degrees
    assert_in_delta Noise.of(variances).degrees, Noise.of(variances * 3, repeats: 3).degrees, 1
    assert_same Noise::NONE, Noise.of(variances, repeats: 2)
  end

  def test_wildly_different_ones_are_worth_little
    noise = Noise.of((-6..6).map { |power| [10.0**power, 4] })

    assert_operator noise.degrees, :<, 1
  end

  def test_few_teach_nothing
    assert_same Noise::NONE, Noise.of([[1.0, 4]] * 5 + [[0.0, 4]])
    assert_equal [3.0, 4], Noise::NONE.moderate(3.0, 4)
  end

  # Calm by chance is made less so. Restless stays as it is, and the prior's degrees count for less, in proportion.
  def test_moderates_upwards_only
    noise = Noise.new(1.0, 8)

    assert_equal [(8 + 4 * 0.1) / 12, 12], noise.moderate(0.1, 4)
    variance, degrees = noise.moderate(5.0, 4)
    assert_equal 5.0, variance
    assert_in_delta 4 + 8 * ((8 + 4 * 5.0) / 12) / 5, degrees, 1e-9
  end

  private

  def chi_square(degrees, random)
    Array.new(degrees) { (Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand))**2 }.sum
  end
end
