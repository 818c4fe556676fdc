# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# Whole labs, simulated: how often a lab calls anything different that is the same (at most 5%, however many
# configurations it has and however its runs scatter), and how often it finds a true 10%.
class TestLabSimulation < Minitest::Test
  # Runs of a configuration, as factors of its true rate.
  SCATTER = {
    "alike" => ->(_, random) { Math.exp(0.02 * SyntheticLab.gauss(random)) },
    "some restless" => ->(name, random) { Math.exp(0.01 * 1.7**(name.to_i % 5) * SyntheticLab.gauss(random)) },
    "one restless" => ->(name, random) { Math.exp((name == "3" ? 0.1 : 0.02) * SyntheticLab.gauss(random)) },
    "restless reference" => ->(name, random) { Math.exp((name == "0" ? 0.1 : 0.02) * SyntheticLab.gauss(random)) },
    "reference a little restless" => lambda do |name, random|
      Math.exp((name == "0" ? 0.03 : 0.01) * SyntheticLab.gauss(random))
    end,
    "now and then disturbed" => lambda do |_, random|
      Math.exp(0.01 * SyntheticLab.gauss(random)) * (random.rand < 0.07 ? 1 - 0.3 * random.rand : 1)
    end
  }.freeze

  SCATTER.each do |name, scatter|
    [3, 5].each do |blocks|
      define_method("test_#{name.tr(" ", "_")}_#{blocks}_blocks") { assert_false_alarms(scatter, blocks) }
    end
  end

  # The figure of the lab: one comparison with itself a lab.
  def test_control_alone
    alarms = (1..400).count { |seed| lab(%w[0 1], SCATTER["alike"], 5, seed).comparisons.first.different? }

    assert_operator alarms, :<=, 20
  end

  # Choosing the best by its figures and comparing the rest with it must not produce differences.
  def test_best_against_the_rest
    alarms = (1..100).count do |seed|
      analysis = lab(%w[0 1 2 3 4 5 6 7], SCATTER["alike"], 5, seed)
      analysis.comparisons(baseline: analysis.best(load: "l1").configuration).any?(&:different?)
    end

    assert_operator alarms, :<=, 5
  end

  # 11 ms of CPU time against 10, beside a control, with runs that scatter by 2%.
  def test_ten_per_cent_are_found
    found = (1..150).count do |seed|
      slow = SyntheticLab.new(%w[0 1 2], controls: { "1" => "0" }, seed: seed) do |name, _, block, random|
        (name == "2" ? 1000 / 11.0 : 100) * drift(block) * SCATTER["alike"].call(name, random)
      end
      slow.analysis.comparisons.find { |each| each.configuration.name == "2" }.different?
    end

    assert_operator found, :>=, 135
  end

  # 3 blocks alone can't show a difference in a family of 15, but they can with the scatter of the whole lab: with 2
  # degrees of freedom, p would have to be below 0.025 / 15, which is a t of 24.
  def test_a_large_lab_finds_ten_per_cent_in_three_blocks
    found = (1..100).count do |seed|
      lab = SyntheticLab.new((0..15).map(&:to_s), blocks: 3, seed: seed) do |name, _, block, random|
        (name == "15" ? 90 : 100) * drift(block) * Math.exp(0.006 * SyntheticLab.gauss(random))
      end
      lab.analysis.comparisons.last.different?
    end

    assert_operator found, :>=, 54
  end

  # As many configurations, loads and rounds as the default lab has. benchmark/lab/simulated has more of these.
  def test_the_default_lab_finds_ten_per_cent
    found = (1..100).count do |seed|
      names = (0..10).map(&:to_s)
      lab = SyntheticLab.new(names, blocks: 6, loads: 2, controls: { "10" => "0" }, seed: seed) do |name, load, *rest|
        (name == "9" && load.zero? ? 90 : 100) * drift(rest[0]) * SCATTER["alike"].call(name, rest[1])
      end
      lab.analysis.comparisons(load: "l1").find { |each| each.configuration.name == "9" }.different?
    end

    assert_operator found, :>=, 54
  end

  # detectable says what is found in 9 of 10.
  def test_detectable_is_what_is_found
    effect = lab(%w[0 1], SCATTER["alike"], 200, 1).comparisons.first.detectable

    assert_in_delta [0.02 * Math.sqrt(2 / 200.0) * (2.2414 + 1.2816), 0.01].max, effect, 0.001
  end

  private

  def drift(block)
    1 + block / 10.0
  end

  def lab(names, scatter, blocks, seed, loads: 1)
    SyntheticLab.new(names, blocks: blocks, loads: loads, seed: seed) do |name, _, block, random|
      100 * drift(block) * scatter.call(name, random)
    end.analysis
  end

  def assert_false_alarms(scatter, blocks)
    names = (0..13).map(&:to_s)
    alarms = (1..100).count { |seed| lab(names, scatter, blocks, seed, loads: 2).comparisons.any?(&:different?) }

    assert_operator alarms, :<=, 5
  end
end
