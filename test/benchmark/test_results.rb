# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"
require_relative "support/measured"

# A benchmark's results summed up: quartiles, intervals by pairs, figures; and the work that an app does.
class TestBenchmarkResults < Minitest::Test
  RATES = [100, 200, 400, 800].freeze

  def setup
    @lab = Measured.results({ "base" => RATES, "same" => RATES.map { |rate| rate * 1.5 },
                              "noisy" => RATES.map.with_index { |rate, round| rate * (round.odd? ? 1 : 2) } })
    @results = Bench::Results.new(@lab)
  end

  def test_quartiles
    assert_equal [175, 300, 500], @results.quartiles("base", "rate")
    assert_nil @results.quartiles("nobody", "rate")
  end

  def test_an_interval_is_that_of_the_ratios_within_rounds
    same = @results.interval("same", "base", "rate")
    assert_in_delta 1.5, same.low
    assert_in_delta 1.5, same.high
    noisy = @results.interval("noisy", "base", "rate")
    assert_in_delta Math.sqrt(2), noisy.value
    assert_operator noisy.low, :<, 1
    assert_operator noisy.high, :>, 2
    assert_nil @results.interval("nobody", "base", "rate")
  end

  def test_an_estimate_is_the_median_with_its_interval
    estimate = @results.estimate("same", "rate")
    assert_equal [450, 4], [estimate.value, estimate.count]
    assert_operator estimate.low, :<, 450
    assert_operator estimate.high, :>, 450
    assert_nil @results.estimate("nobody", "rate")
  end

  def test_a_ratio_takes_each_round_by_itself
    # The second round ran at half speed for both: medians of each side would say 1.5 here.
    assert_equal 2.0, Bench::Results.ratio({ 1 => 200, 2 => 100, 3 => 240 }, { 1 => 100, 2 => 50, 3 => 80 })
    assert_equal 3.0, Bench::Results.ratio({ 1 => 30, 2 => 1 }, { 1 => 10, 3 => 5 })
    assert_nil Bench::Results.ratio({ 1 => 30 }, { 2 => 10 })
    assert_nil Bench::Results.ratio({ 1 => 30 }, { 1 => 0 })
  end

  def test_columns
    cell = ->(way, name) { Bench::Columns::Column.new("", "rate", 1, 1, way).text(@results, name, "base") }
    assert_equal "300.0 [175.0 500.0]", cell.call(:quartiles, "base")
    assert_equal "1.5 [1.5 1.5]", cell.call(:interval, "same")
    assert_equal "1.5", cell.call(:ratio, "same")
    assert_equal "450.0", cell.call(nil, "same")
    assert_equal ["", ""], %i[quartiles interval].map { |way| cell.call(way, "nobody") }
  end

  def test_figures
    assert_equal 300, value(of: "base")
    assert_equal 0.5, value(of: "base", by: 600)
    assert_equal 1.5, value(of: "same", by: "base")
    assert_equal 1.5, value(of: %w[base same], by: %w[base], at_most: 1)
    assert_equal 1, value(of: %w[base same], by: %w[base])
    assert_nil value(of: %w[base nobody], by: %w[base])
    assert_in_delta 1.5, value(of: "same", by: "base", shown: true)
    assert_operator value(of: "noisy", by: "base", shown: true), :<, 1
    assert_operator value(of: "noisy", by: "base", shown: true, at_most: 1), :>, 2
    assert_operator value(of: %w[same noisy], by: %w[base], shown: true, at_most: 1), :>, 2
    assert_operator value(of: %w[same noisy], by: %w[base], shown: true), :<, 1
    assert_nil value(of: "nobody", by: "base")
  end

  def test_an_invalid_run_does_not_count
    lab = Measured.results({ "base" => [1, 2, 3] }) do |_name, round|
      { "valid" => round != 2, "figures" => { "idle" => round } }
    end
    assert_equal({ 0 => 1, 1 => 2 }, Bench::Results.new(lab).values("base", "rate"))
    assert_equal({ 0 => 0, 1 => 1 }, Bench::Results.new(lab).values("base", "idle"))
  end

  def test_the_share_of_the_busiest_process
    lab = Measured.results({ "base" => [1, 2] }) do |_name, round|
      { "server" => { "cpu_by_process" => [[0.1, 1.0, 0.9], [0.0, 3.0, 1.0]][round] } }
    end
    assert_equal({ 0 => 0.5, 1 => 0.75 }, Bench::Results.new(lab).values("base", "busiest"))
  end

  def test_a_plan_of_several_tables
    plan = Bench::Plan.new("x", "X", [])
    plan.name += "-1"
    plan.title = "X on one core"
    options = plan.options(Bench::Options.new([], name: "x", rounds: 1, seconds: 1))
    assert_equal "x-1", File.basename(options.directory)
    assert_equal "X on one core", options.notes[Bench::Report::NOTE]["title"]
  end

  def test_work_of_steps
    assert_equal [5.0, 21.0], Bench::Work.sums("1:4 1:4 1:4 2:9")
    loops = Bench::Work.calibrate(Bench.cores)
    assert_operator loops, :>, 1000
    start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    elapsed = Eventually.elapsed { Bench::Work.new("5:10 5:10", loops).call }
    computed = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - start
    assert_operator elapsed, :>, 0.02
    assert_operator computed, :>, 0.001
  end

  private

  # Of a figure as a plan declares it.
  def value(at_most: nil, **figure)
    plan = Bench::Plan.new("x", "X", [])
    plan.figure("x", :rate, **figure, at_most: at_most, at_least: at_most ? nil : 1)
    @results.value(plan.instance_variable_get(:@figures).first)
  end
end
