# frozen_string_literal: true

require "test_helper"

class TestLoadSelfTest < Minitest::Test
  SelfTest = Cuttle::Load::SelfTest
  Delays = SelfTest::Delays

  # Whatever else the machine does: how near it lets times come is not the generator's.
  def test_it_proves_itself
    seen = []
    checks = SelfTest.new.run { |check| seen << check }
    machine, generator = checks.partition { |check| check.about == :machine }

    assert_equal checks, seen
    assert_operator generator.length, :>=, 15
    assert_equal Delays::PERCENTILES.length, machine.length
    assert_empty(generator.reject(&:passed).map { |check| "#{check.name}: #{check.detail}" })
  end

  def test_a_generator_that_lies_is_found_out
    assert_equal [true], true_checks(1).map(&:passed).uniq
    assert_equal [false], true_checks(0.95).map(&:passed).uniq
    assert_equal [false], true_checks(1.05).map(&:passed).uniq
    assert_equal [:generator], true_checks(1.05).map(&:about).uniq
  end

  # By the server's clock 1% lies between what it held and what it had to wait for more.
  def true_checks(factor)
    Delays::PERCENTILES.map do |percentile|
      Delays.new.true_check(percentile, histogram_of(1), histogram_of(1.01), result_of(factor))
    end
  end

  def test_a_machine_that_is_late_is_found_out
    assert_equal [true], late_checks(1).map(&:passed).uniq
    assert_equal [false], late_checks(1.05).map(&:passed).uniq
    assert_equal [true], late_checks(1.05, margin: 10).map(&:passed).uniq
    assert_equal [:machine], late_checks(1.05).map(&:about).uniq
  end

  def late_checks(factor, margin: 1)
    Delays::PERCENTILES.map { |percentile| Delays.new(margin: margin).late_check(percentile, result_of(factor)) }
  end

  def histogram_of(factor)
    Delays::WANTED.each_with_object(Cuttle::Load::Histogram.new) do |delay, sum|
      sum.record((factor * delay * 1e9).round)
    end
  end

  def result_of(factor)
    Struct.new(:latency, :failures).new(histogram_of(factor), 0)
  end
end
