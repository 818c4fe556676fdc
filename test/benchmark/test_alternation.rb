# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/support/alternation"

# Servers that run at once and are loaded in turn.
class TestBenchmarkAlternation < Minitest::Test
  Alternation = Bench::Alternation

  def test_each_contestant_is_loaded_once_in_each_round_of_each_session
    rounds = 0
    turns = alternation("hybrid:1", "single").run { rounds += 1 }
    assert_equal 4, rounds
    assert_equal({ "hybrid:1" => 4, "single" => 4 }, turns.transform_values(&:length))
    turns.values.flatten.each do |turn|
      assert_equal 0, turn.errors
      assert_operator turn.latency.count, :>, 0
      assert_operator turn.cpu, :>, 0
    end
  end

  def test_an_open_loop_has_its_rate
    turns = alternation("hybrid:1", "single", rate: 200.0, seconds: 0.5).run { nil }
    turns.each_value do |own|
      assert_in_epsilon 200, own.sum { |turn| turn.latency.count }.fdiv(own.length * 0.5), 0.4
    end
  end

  def test_a_contestant_that_this_machine_lacks
    error = assert_raises(Bench::Lab::Failure) { alternation("single", "rhebok") }
    assert_match(/not installed|runs only on/, error.message)
  end

  def test_a_commit
    name = "at:. -t 2"
    assert_equal [name, name], Alternation.contestant(name).values_at("server", "name")
    assert_equal 4, alternation(name).run { nil }.fetch(name).length
    error = assert_raises(Bench::Lab::Failure) { Alternation.contestant("at:nowhere") }
    assert_equal "no commit nowhere", error.message
    assert_raises(Bench::Lab::Failure) { Alternation.contestant(name, workers: 2) }
  end

  def test_the_pool_of_a_database_limits_auto_only
    pools = %w[hybrid-auto hybrid:3].map { |name| Alternation.contestant(name, pool: "16")["environment"] }
    assert_equal [{ "RAILS_MAX_THREADS" => "16" }, {}], pools
  end

  def test_flags_follow_the_name
    assert_equal ["hybrid", 5, %w[--max-queue 9]],
                 Alternation.contestant("hybrid:5 --max-queue 9").values_at("model", "threads", "flags")
    assert_nil Alternation.contestant("hybrid:5")["flags"]
  end

  # The machine is half as fast in every second round, for both.
  def test_ratios_are_those_within_rounds
    speeds = [1.0, 0.5, 1.0, 0.5]
    ratios = Alternation::Findings.new("a" => turns(speeds, 90), "b" => turns(speeds, 100)).ratios("b")
    assert_in_delta 0.9, ratios[:rate].value, 1e-9
    assert_in_delta 0.9, ratios[:rate].low, 1e-9
    assert_in_delta 1 / 0.9, ratios[:cpu].value, 1e-6
    [50, 99].each { |percent| assert_in_delta 1 / 0.9, ratios[percent].value, 0.01 }
  end

  def test_the_text_has_every_contestant_and_the_ratios_of_the_first_one
    text = Alternation::Findings.new("a" => turns([1, 2], 10), "b" => turns([1, 2], 20)).to_s
    assert_equal ["a", "b", "a by b:"], text.lines.map { |line| line[/\A(\w+ by \w+:|\w+)/] }
    assert_includes text, "rate 0.500 (0.500 to 0.500)"
  end

  private

  def alternation(*names, **options)
    Alternation.new(names.map { |name| Alternation.contestant(name) },
                    app: "hello", connections: 2, sessions: 2, rounds: 2, seconds: 0.1, warmup: 0.1, seed: 1, **options)
  end

  # Turns at a rate that is proportional to the machine's speed, each with 100 equal response times.
  def turns(speeds, rate)
    speeds.map do |speed|
      time = (1e9 / (rate * speed)).round
      Alternation::Turn.new(rate: rate * speed, cpu: time / 1e3, latency: histogram(time), errors: 0)
    end
  end

  def histogram(time)
    Cuttle::Load::Histogram.new.tap { |histogram| 100.times { histogram.record(time) } }
  end
end
