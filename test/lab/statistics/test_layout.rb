# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# How much each of several things scatters, after the rounds' effects.
class TestLabLayout < Minitest::Test
  Layout = Cuttle::Lab::Statistics::Layout

  # Levels and rounds explain everything.
  def test_an_additive_table_has_no_scatter
    spreads = Layout.new(table(%w[a b c], 4) { |name, round| (name.ord - 90) * (round + 1) }).spreads

    assert_equal %w[a b c], spreads.keys
    spreads.each_value { |variance, degrees| assert_equal [0, 2], [variance.round(12), degrees.round(9)] }
  end

  # A round that a pair shares says as much as the pair's own differences do.
  def test_two_things_are_a_pair
    values = { "a" => { 0 => 100.0, 1 => 110.0, 2 => 90.0 }, "b" => { 0 => 105.0, 1 => 100.0, 2 => 99.0 } }
    spreads = Layout.new(values).spreads
    variance, degrees = Cuttle::Lab::Statistics::Paired.of(*values.values).spread

    assert_in_delta variance, spreads.values.sum(&:first), 1e-12
    assert_in_delta degrees, spreads.values.sum(&:last), 1e-12
  end

  def test_each_has_its_own
    random = Random.new(1)
    deviations = { "calm" => 0.01, "usual" => 0.02, "restless" => 0.1 }
    sums = Hash.new(0.0)
    300.times do
      table = table(deviations.keys * 3, 6) do |name, round|
        (round + 1) * Math.exp(deviations[name] * SyntheticLab.gauss(random))
      end
      Layout.new(table).spreads.each { |(name, _), (variance, _)| sums[name] += variance / 900 }
    end

    # A ninth of the others' scatter is in each round's effect.
    assert_in_delta 0.1, Math.sqrt(sums["restless"]), 0.015
    assert_in_delta 0.02, Math.sqrt(sums["usual"]), 0.015
    assert_operator sums["calm"], :<, sums["usual"]
  end

  def test_gaps
    values = table(%w[a b c], 5) { |name, round| (name.ord - 90) * (round + 1) }
    values.values[1].delete(2)
    spreads = Layout.new(values.merge("once" => { 1 => 7.0 }, "never" => {}, "zero" => { 0 => 0.0, 1 => nil })).spreads

    assert_equal 3, spreads.length
    spreads.each_value { |variance, _| assert_in_delta 0, variance, 1e-9 }
    assert_in_delta 3 * 4 - 4 - 1, spreads.values.sum(&:last), 0.5 # 14 values, 3 levels, 4 effects
    assert_empty Layout.new({}).spreads
    assert_empty Layout.new("a" => { 0 => 1.0, 1 => 2.0 }).spreads
  end

  private

  # Names that are there twice are two things.
  def table(names, rounds)
    names.each_with_index.to_h do |name, index|
      [names.uniq == names ? name : [name, index], rounds.times.to_h { |round| [round, yield(name, round).to_f] }]
    end
  end
end
