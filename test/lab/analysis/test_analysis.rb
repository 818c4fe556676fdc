# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# What is made of a lab's runs.
class TestLabAnalysis < Minitest::Test
  RATES = { "single" => 100.0, "hybrid" => 140.0, "reactor" => 139.5, "single again" => 100.2 }.freeze
  CONTROL = { "single again" => "single" }.freeze

  # Each run within 1%, each block some per cent off.
  def lab(rates = RATES, loads: 1)
    SyntheticLab.new(rates.keys, controls: CONTROL, loads: loads) do |name, _, block, random|
      rates[name] * (1 + block / 20.0) * Math.exp(0.005 * SyntheticLab.gauss(random))
    end
  end

  def analysis(rates = RATES, **options)
    lab(rates, **options).analysis
  end

  def test_table
    row = analysis.table.first

    assert_equal [4, "single"], [analysis.table.length, row.configuration.name]
    assert_equal [5, 0, 0], [row.valid_runs, row.invalid_runs, row.errors]
    assert_in_delta 110, row.rate.value, 2
    assert 110.between?(row.rate.low, row.rate.high)
    assert_equal [102.0, 0.6, 30_000_000, 30_000_000, 2.0],
                 [row.cpu_us, row.boot.round(9), row.pss_total, row.pss_worker, row.switches]
    assert_nil row.p99
    assert_in_delta 1e4 / 110, row.p95.value, 2
    assert_predicate row, :sound?
  end

  def test_invalid_runs_do_not_count
    runs = lab.records.each do |run|
      next unless run["configuration"] == "c2" && run["block"] < 2

      run.update("valid" => false, "reasons" => ["2 workers wanted, 1 found"], "rate" => 1e9)
    end
    analysis = of(runs)
    row = analysis.row("c2", "l1")

    assert_equal [3, 2, ["2 workers wanted, 1 found"]], [row.valid_runs, row.invalid_runs, row.reasons]
    assert_operator row.rate.value, :<, 200
    assert_equal 3, analysis.comparisons.first.rounds
  end

  def test_what_never_ran_validly_is_in_the_table_and_nowhere_else
    runs = lab.records.each { |run| run.update("valid" => false, "rate" => nil) if run["configuration"] == "c2" }
    analysis = of(runs)

    assert_nil analysis.row("c2", "l1").rate
    refute_predicate analysis.row("c2", "l1"), :measured?
    assert_equal %w[reactor single\ again], analysis.comparisons.map { |each| each.configuration.name }
  end

  def test_comparisons
    hybrid, reactor, control = analysis.comparisons

    assert_predicate hybrid, :different?
    assert_predicate hybrid, :better?
    assert_in_delta 1.4, hybrid.ratio.value, 0.02
    assert 1.4.between?(hybrid.ratio.low, hybrid.ratio.high)
    assert_equal hybrid.p, hybrid.inverse.p
    assert_predicate reactor, :different?
    refute_predicate control, :different?
    assert_equal [3] * 3, [hybrid, reactor, control].map(&:family)
  end

  # Of a base that was picked for its looks: corrected for every pair.
  def test_comparisons_with_another_base
    single, reactor = analysis.comparisons(baseline: "c2")

    assert_in_delta 1 / 1.4, single.ratio.value, 0.02
    assert_predicate single, :different?
    refute_predicate single, :better?
    refute_predicate reactor, :different?
    assert_equal 4, reactor.family
    assert_operator reactor.detectable, :<, 0.05
  end

  # Of the best, which the results chose: but its comparison with the baseline was planned.
  def test_a_planned_comparison_is_the_same_from_both_sides
    there = analysis.comparisons.find { |each| each.configuration.name == "hybrid" }
    back = analysis.comparisons(baseline: "c2").find { |each| each.configuration.name == "single" }

    assert_equal [there.p, there.level, there.family], [back.p, back.level, back.family]
  end

  # b lacks the rounds in which everything was fast, so its median is below that of a.
  def test_what_is_measurably_better_than_the_best_is_not_behind
    fast = ->(block) { (block > 1 ? 2 : 1) * (1 + (block / 1000.0)) }
    lab = SyntheticLab.new(%w[a b], blocks: 6) do |name, _, block|
      next 100.0 * fast.call(block) if name == "a"

      110.0 * fast.call(block) * (1 + (block.odd? ? 0.001 : 0)) if block < 4
    end
    ranking = lab.analysis.ranking(load: "l1")

    assert_equal "a", ranking.best.configuration.name
    assert_predicate ranking.comparison(ranking.rivals.first), :better?
    assert_equal %i[best], ranking.groups.keys
  end

  def test_control
    assert_equal ["single again", "single"],
                 analysis.control.then { |each| [each.configuration.name, each.baseline.name] }
    assert_equal 2, analysis(loads: 2).controls.length
    assert_nil SyntheticLab.new(%w[single]) { 100.0 }.analysis.control
  end

  def test_best
    assert_equal "hybrid", analysis({ "single" => 100.0, "hybrid" => 140.0 }).best(load: "l1").configuration.name
    assert_equal "single", SyntheticLab.new(%w[hybrid single], loop: "open") { |name| name == "single" ? 5.0 : 9.0 }
                                       .analysis.best(load: "l1").configuration.name
  end

  # hybrid had a lucky first round, and no other.
  def test_what_was_left_out_is_not_the_best_unless_everything_was
    rates = RATES.merge("hybrid" => 1000.0)
    runs = lab(rates).runs.reject { |run| run["configuration"] == "c2" && run["block"].positive? }
    left_out = { "c1" => 1, "c2" => 0, "c3" => 1 }.map do |id, block|
      { "type" => "left_out", "configuration" => id, "block" => block, "reason" => "1.1 times behind the best" }
    end

    assert_equal "reactor", of([*runs, left_out[1]]).best(load: "l1").configuration.name
    assert_equal "hybrid", of([*runs, *left_out]).best(load: "l1").configuration.name
  end

  def test_errors_are_no_throughput
    runs = lab.records.each { |run| run.update("errors" => { "status_5xx" => 90 }) if run["configuration"] == "c2" }
    analysis = of(runs)

    assert_equal 450, analysis.row("c2", "l1").errors
    assert_equal "reactor", analysis.best(load: "l1").configuration.name
    assert(analysis.verdict.any? { |sentence| sentence.start_with?("hybrid failed 5") })
  end

  # 300 responses per run give no p99; 1500 together do.
  def test_percentile_of_all_runs_together
    random = Random.new(1)
    runs = lab.runs.each do |run|
      histogram = Cuttle::Load::Histogram.new
      300.times { histogram.record((1e7 * (1 + random.rand)).to_i) }
      run["histogram"] = Cuttle::Load::Histograms.to_h(histogram)
    end
    p99 = of(runs).table.first.p99

    assert_in_delta 19.9, p99.value, 0.1
    assert 19.9.between?(p99.low, p99.high)
    assert_equal 5, p99.count
  end

  # 60 responses a run report no p95, but compare it: twice as long is seen.
  def test_short_runs_of_an_open_loop_are_compared
    random = Random.new(1)
    lab = SyntheticLab.new(%w[a b], blocks: 6, loop: "open") { 1.0 }
    runs = lab.runs.each do |run|
      histogram = Cuttle::Load::Histogram.new
      60.times { histogram.record((1e7 * (run["configuration"] == "c1" ? 1 : 2) * (1 + (0.2 * random.rand))).to_i) }
      run.update("ms" => { "p95" => nil }, "histogram" => Cuttle::Load::Histograms.to_h(histogram))
    end
    comparison = Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(SyntheticLab::Lines.new(lab.header, runs, []), "x"))
                                      .comparisons.first

    assert_predicate comparison, :different?
    assert_in_delta 2.0, comparison.ratio.value, 0.1
  end

  # Of all responses together, 1 in 6 is from the round in which a was disturbed.
  def test_one_disturbed_round_does_not_decide_the_best_tail
    lab = SyntheticLab.new(%w[a b], blocks: 6, loop: "open") { 1.0 }
    runs = lab.runs.each do |run|
      histogram = Cuttle::Load::Histogram.new
      time = { "c1" => run["block"] == 2 ? 1e9 : 10e6, "c2" => 15e6 }.fetch(run["configuration"])
      60.times { |number| histogram.record((time * (1 + (number / 1000.0))).round) }
      run.update("ms" => { "p95" => nil }, "histogram" => Cuttle::Load::Histograms.to_h(histogram))
    end
    analysis = Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(SyntheticLab::Lines.new(lab.header, runs, []), "x"))

    assert_operator analysis.row("c1", "l1").p95.value, :>, 900
    assert_equal "a", analysis.best(load: "l1").configuration.name
    assert_equal "a", analysis.ranking(load: "l1").groups[:best].first.configuration.name
  end

  def test_undecided
    alike, coarse, seen = [[0.01, 1.0], [0.2, 1.01], [0.15, 1.6]].map do |wobble, ratio|
      SyntheticLab.new(%w[a b], blocks: 3) do |name, _, block|
        (name == "a" ? 100 : 100 * ratio) * (1 + (name == "a" ? wobble * (block - 1) : -wobble * (block - 1)))
      end.analysis.comparisons.first
    end

    assert_equal [false, true, true], [alike, coarse, seen].map(&:undecided?)
    assert_equal [false] * 3, [alike, coarse, seen].map(&:different?)
  end

  def test_the_base_is_what_the_control_repeats
    rates = { "single" => 100.0, "hybrid" => 140.0, "hybrid again" => 140.1 }
    analysis = SyntheticLab.new(rates.keys, controls: { "hybrid again" => "hybrid" }) { |name| rates[name] }.analysis

    assert_equal "hybrid", analysis.baseline.name
  end

  def test_differences_too_small_to_matter
    exact = SyntheticLab.new(%w[a b]) { |name, _, block| (name == "a" ? 1e5 : 1.005e5) + block }.analysis

    refute_predicate exact.comparisons.first, :different?
    assert_operator exact.comparisons.first.p, :<, 1e-6
    assert_equal 0.01, exact.comparisons.first.detectable
  end

  # Responses are counted whole: 5 in each run may have been almost 6, and 6 little more than 5.
  def test_rates_of_few_responses_that_never_vary_are_not_certain
    few, many = [5.0, 500.0].map do |rate|
      SyntheticLab.new(%w[a b], blocks: 6) { |name| name == "a" ? rate : rate * 1.2 }.analysis.comparisons.first
    end

    assert_equal [false, true], [few, many].map(&:different?)
    assert 1.0.between?(few.ratio.low, few.ratio.high)
    assert_operator few.detectable, :>, 0.2
    assert_operator many.p, :>, 0
    assert_equal [few.p, many.p], [few, many].map { |each| each.inverse.p }
  end

  def test_blocks_that_one_lacks_are_left_out
    analysis = SyntheticLab.new(%w[a b]) { |name, _, block| 100.0 + block unless name == "b" && block > 1 }.analysis

    assert_equal 2, analysis.comparisons.first.rounds
  end

  private

  def of(records)
    Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(SyntheticLab::Lines.new(lab.header, records, []), "synthetic"))
  end
end
