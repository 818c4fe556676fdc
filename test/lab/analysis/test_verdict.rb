# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# The sentences, word for word.
class TestLabVerdict < Minitest::Test
  WOBBLE = [0.001, -0.002, 0.0015, -0.0005, 0.0].freeze

  # Each run a little off, by what is known.
  def verdict(rates, wobble: 1, **options)
    lab = SyntheticLab.new(rates.keys, **options) do |name, load, block, _|
      place = rates.keys.index(name)
      rates[name] * (load + 1) * (1 + wobble * WOBBLE[(block + place) % 5])
    end
    lab.analysis.verdict
  end

  def test_a_difference
    assert_match(/\Ahybrid 2x5 serves 1\.38x the requests of single x4 \(95%: 1\.29 to 1\.47\)\z/,
                 verdict({ "single x4" => 100.0, "hybrid 2x5" => 138.0 }, wobble: 20).first)
  end

  def test_no_difference
    sentence, = verdict({ "single x4" => 1000.0, "hybrid 2x5" => 1001.0 })

    assert_equal "no measurable difference between single x4 and hybrid 2x5 (1% would have been detected)", sentence
  end

  def test_the_reference_is_best_itself
    assert_match(/\Asingle serves 1\.25x the requests of hybrid \(95%/,
                 verdict({ "single" => 125.0, "hybrid" => 100.0 }).first)
  end

  def test_what_is_as_good_as_the_best
    rates = { "single" => 100.0, "hybrid" => 150.0, "reactor" => 149.9, "fibers" => 149.8, "again" => 100.0 }
    ahead, same, agrees = verdict(rates, controls: { "again" => "single" })

    assert_match(/\Ahybrid serves 1\.50x the requests of single/, ahead)
    assert_match(/\Ano measurable difference between hybrid and reactor or fibers \(\d\S*% would have been/, same)
    assert_match(/\Athe control agrees: .* single and itself repeated \(\d\S*% at 10 connections would have/, agrees)
  end

  def test_a_control_that_disagrees_comes_first
    first = verdict({ "single" => 100.0, "again" => 108.0, "hybrid" => 120.0 }, controls: { "again" => "single" }).first

    assert_match(/\Athe control disagrees at 10 connections: single repeated differs from itself, 1\.08x \(95%/, first)
  end

  # An error is quickly answered.
  def test_what_failed_is_compared_with_nothing
    rates = { "single" => 149.9, "hybrid" => 150.0, "reactor" => 140.0, "fibers" => 150.1 }
    lab = SyntheticLab.new(rates.keys) { |name, _, block, _| rates[name] * (1 + WOBBLE[block]) }
    failed = lab.runs.each { |run| run["errors"] = { "status_5xx" => 20 } if %w[c1 c4].include?(run["configuration"]) }
    ahead, *others = said(lab, failed)

    assert_match(/\Ahybrid serves 1\.07x the requests of reactor/, ahead)
    assert_equal %w[single fibers], others.map { |sentence| sentence[/\A\w+(?= failed \d+% of its requests)/] }
  end

  # reactor had a lucky first round.
  def test_what_was_left_out_is_compared_with_nothing
    rates = { "single" => 150.0, "hybrid" => 140.0, "reactor" => 148.0 }
    lab = SyntheticLab.new(rates.keys) { |name, _, block, _| rates[name] * (1 + WOBBLE[block]) }
    kept = lab.runs.reject { |run| run["configuration"] == "c3" && run["block"].positive? }
    left_out = { "type" => "left_out", "configuration" => "c3", "block" => 0, "reason" => "1.0 times behind the best" }

    assert_match(/\Asingle serves 1\.07x the requests of hybrid/, said(lab, [*kept, left_out]).join("\n"))
  end

  # 8% apart, and 15% would have been detected: no difference is proved, and they are not as good as each other.
  def test_the_verdict_and_the_groups_of_the_table_say_the_same
    analysis = SyntheticLab.new(%w[a b]) do |name, _, block|
      name == "a" ? 100.0 : 108.0 * (1 + [-0.09, 0.07, 0.05, -0.05, 0.02][block])
    end.analysis
    comparison = analysis.comparisons.first

    assert_equal [false, false], [comparison.different?, comparison.undecided?]
    assert_equal %i[best unclear], analysis.ranking(load: "l1").groups.keys
    assert_match(/\Atoo few rounds to compare a with b: /, analysis.verdict.first)
  end

  def test_several_loads_are_named
    assert_equal ["at 10 connections: ", "at 20 connections: "],
                 verdict({ "a" => 100.0, "b" => 120.0 }, loads: 2).map { |sentence| sentence[/\Aat \d+ connections: /] }
  end

  def test_an_open_loop_compares_times
    assert_match(/\Ahybrid has 0\.50x the 95th percentile response time of single \(95%: 0\.50 to 0\.50\)\z/,
                 verdict({ "single" => 20.0, "hybrid" => 10.0 }, loop: "open").first)
  end

  def test_one_configuration
    assert_match(%r{\Asingle serves 1,000 requests/s \(95%: 99\d to 1,00\d\)\z}, verdict({ "single" => 1000.0 }).first)
  end

  def test_one_block
    assert_equal "too few rounds to compare a with b: b had 2.99x the requests of a, and one round can't distinguish " \
                 "a difference from chance", verdict({ "a" => 100.0, "b" => 300.0 }, blocks: 1, controls: {}).last
  end

  # The ratio is ten, but the rounds scatter so much that nothing is proved.
  def test_a_great_difference_that_is_not_proved_is_never_none
    rates = { "a" => [10, 80], "b" => [100, 2000] }
    restless = SyntheticLab.new(%w[a b], blocks: 2) { |name, _, block| rates[name][block] }
    said = restless.analysis.verdict
    assert_match(/\Atoo few rounds to compare a with b: b had \d.*x the requests of a, and only .* more than 10x /,
                 said.first)
    assert_empty said.grep(/no measurable difference/)
  end

  # Alike, as it looks; but these rounds would have missed a difference of a half.
  def test_a_coarse_lab_does_not_say_that_two_are_alike
    said = verdict({ "a" => 100.0, "b" => 101.0 }, wobble: 100, blocks: 3)
    assert_match(/\Atoo few rounds to compare/, said.first)
  end

  def test_a_control_that_could_not_disagree_was_not_tested
    rates = { "single" => 100.0, "again" => 101.0, "hybrid" => 120.0 }
    said = verdict(rates, wobble: 100, blocks: 2, controls: { "again" => "single" })
    assert_match(/\Athe control was not tested at 10 connections: too few rounds, only a difference of /, said.last)
    assert_empty said.grep(/agrees/)
  end

  def test_nothing_measured
    assert_equal ["no configuration was measured reliably"], SyntheticLab.new(%w[a b]) { nil }.analysis.verdict
  end

  def said(lab, records)
    lines = SyntheticLab::Lines.new(lab.header, [*records, { "type" => "end", "interrupted" => false }], [])
    Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(lines, "synthetic/results.jsonl")).verdict
  end

  def test_effects_are_rounded_up
    words = Cuttle::Lab::Analysis::Verdict::Phrases

    assert_equal ["1%", "4%", "3.5%", "13%", "2.1x", "7%", "more than 10x"],
                 [0.01, 0.04, 0.0341, 0.121, 1.04, 0.07, 6_588_538.8].map { |share| words.effect(share) }
  end
end
