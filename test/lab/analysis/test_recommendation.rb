# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# What a lab recommends, of labs that never ran.
class TestLabRecommendation < Minitest::Test
  # [requests/s, p95 in ms, memory in MB]
  LAB = { "single" => [80, 900, 20], "hybrid" => [400, 40, 25], "hybrid -w 2" => [401, 39.8, 50],
          "fibers" => [399, 60, 22], "reactor" => [200, 30, 21], "hybrid again" => [400, 40, 25] }.freeze
  CONTROL = { "hybrid again" => "hybrid" }.freeze

  def test_the_choices
    found = recommendation

    assert_equal [["20 connections", "100/s"], %i[fastest cheapest best_tail]],
                 [[found.closed.name, found.open.name], found.choices.map(&:role)]
    assert_equal ["hybrid -w 2", "fibers", "reactor"], found.choices.map { |each| each.configuration.name }
    assert_equal %w[fibers hybrid], found[:fastest].equals.map(&:name).sort
    assert_empty found[:best_tail].equals
    assert_in_delta 401, found[:fastest].rate.value, 4
    assert_in_delta 39.8, found[:fastest].p95.value, 0.4
    assert_equal [50_000_000, 100.0], [found[:fastest].memory, found[:fastest].cpu_us]
  end

  # As fast as the fastest, and none has better response times among those that are as fast.
  def test_the_pick
    assert_equal "fibers", recommendation.pick.configuration.name # the best tail is of one that is slow
    assert_equal "hybrid", recommendation(LAB.except("reactor")).pick.configuration.name
  end

  def test_without_an_open_loop
    found = recommendation(loops: %w[closed])

    assert_equal [%i[fastest cheapest], nil], [found.choices.map(&:role), found.open]
    assert_equal "fibers", found.pick.configuration.name
  end

  def test_without_a_closed_loop
    found = recommendation(loops: %w[open])

    assert_equal %i[cheapest best_tail], found.choices.map(&:role)
    assert_equal "reactor", found.pick.configuration.name
  end

  # fibers would be the pick, but something went wrong under the open loop.
  def test_only_what_is_flawless_under_both_loads_is_recommended
    failure = { "type" => "failure", "configuration" => "c4", "load" => "l2", "block" => 1, "reason" => "it died" }
    assert_equal "hybrid", recommendation(records: [failure]).pick.configuration.name

    { "errors" => { "status_5xx" => 100 }, "valid" => false }.each do |key, value|
      change = ->(run) { run[key] = value if run.values_at("configuration", "load") == %w[c4 l2] }
      found = recommendation(change: change)

      assert_equal [nil, "hybrid", ["fibers"]], [found.doubt, found.pick.configuration.name, found.flawed.map(&:name)]
    end
  end

  def test_if_all_of_the_best_have_faults_there_is_no_pick
    found = recommendation(change: ->(run) { run["valid"] = false if run["load"] == "l2" && run["block"].zero? })

    assert_equal [:faults, nil], [found.doubt, found.pick]
  end

  def test_a_control_that_disagrees_leaves_no_pick
    found = recommendation(LAB.merge("hybrid again" => [360, 40, 25]))

    assert_equal [:control, nil, "20 connections"], [found.doubt, found.pick, found.disagreement.load.name]
    assert_equal "fastest", found.choices.first.role.to_s
  end

  # Nothing is recommended by one round, however great the difference.
  def test_too_few_rounds_recommend_nothing
    found = recommendation(blocks: 1)

    refute_predicate found, :decided?
    assert_equal [:comparisons, nil], [found.doubt, found.pick]
    assert_equal LAB.length - 1, found.unclear.length # the best of each load is compared with the others
    assert_equal "hybrid -w 2", found[:fastest].configuration.name
  end

  # One of them scatters too much to be compared; the others are what they are.
  def test_a_restless_one_is_unclear
    found = recommendation(restless: "fibers")

    assert_equal ["fibers"], found.unclear.map(&:name)
    assert_equal "hybrid", found.pick.configuration.name
  end

  # The lab ended before the others started.
  def test_what_never_started_was_not_compared
    found = recommendation { |name| name == "hybrid" }

    assert_nil found.pick
    assert_equal LAB.keys - ["hybrid", "hybrid again"], found.coverage.uncompared.map(&:name)
    assert_equal :comparisons, recommendation { |name, block| name == "hybrid" || block.zero? }.doubt
  end

  def test_a_lab_of_one_configuration_compares_nothing
    assert_equal "hybrid", recommendation(LAB.slice("hybrid")).pick.configuration.name
  end

  # fibers was left out because there was no time, and not because it was far behind.
  def test_what_was_left_out_for_its_time_was_not_compared
    left_out = { "type" => "left_out", "configuration" => "c4", "block" => 0, "reason" => "1.0 times behind the best" }
    found = recommendation(records: [left_out]) { |name, block| name != "fibers" || block.zero? }

    assert_equal %w[fibers], found.coverage.uncompared.map(&:name)
    assert_equal "hybrid", found.pick.configuration.name
  end

  def test_what_was_left_out_is_no_doubt
    left_out = { "type" => "left_out", "configuration" => "c1", "block" => 0, "reason" => "far behind" }
    found = recommendation(records: [left_out]) { |name, block| name != "single" || block.zero? }

    assert_empty found.unclear + found.coverage.uncompared
    groups = found.speed.groups
    assert_equal [%i[best behind left_out], %w[single]],
                 [groups.keys, groups[:left_out].map { |row| row.configuration.name }]
  end

  def test_nothing_measured
    found = SyntheticLab.new(%w[a b]) { nil }.analysis.recommendation

    assert_equal [[], nil, false, []], [found.choices, found.pick, found.decided?, found.unclear]
  end

  private

  # kept: whether there is a run of that name in that block. change: changes the Hash of a run.
  def recommendation(figures = LAB, loops: %w[closed open], blocks: 6, restless: nil, records: [], change: nil, &kept)
    lab = MixedLab.new(figures.keys, loops: loops, blocks: blocks, controls: CONTROL) do |name, load, block, random|
      next if kept && !kept.call(name, block)

      deviation = name == restless ? 0.3 : 0.003
      figures[name][loops[load] == "open" ? 1 : 0] * Math.exp(deviation * SyntheticLab.gauss(random))
    end
    runs = lab.records.each do |run|
      next unless run["type"] == "run"

      run["server"]["pss_total"] = figures.values[run["configuration"][1..].to_i - 1][2] * 1_000_000
      run["server"]["cpu_us"] = 100.0
      change&.call(run)
    end
    lines = SyntheticLab::Lines.new(lab.header, records + runs, [])
    Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(lines, "synthetic/results.jsonl")).recommendation
  end
end
