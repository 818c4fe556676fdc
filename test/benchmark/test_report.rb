# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# A journal that is written, read back, and told.
class TestBenchmarkReport < Minitest::Test
  def setup
    @directory = Dir.mktmpdir
    @journal = Bench::Journal.new(File.join(@directory, "hello.jsonl"))
    @journal.add("benchmark", name: "hello", title: "Hello", columns: %w[rate rate_ratio p99], rounds: 3, seconds: 1,
                 seed: 1,
                              machine: { cpu: "a 6502" })
    @journal.add("subject", name: "base", versus: "base", version: nil)
    @journal.add("subject", name: "other", versus: "base", version: "1.2")
    [1000, 2000, 1500].each.with_index(1) { |rate, round| ran("base", round, rate) }
    [12_000_000, 1000, 750].each.with_index(1) { |rate, round| ran("other", round, rate, errors: { "status" => 2 }) }
    @journal.add("skip", name: "third", reason: "not installed")
    @journal.add("figure", text: "speed", sense: "at_least", bound: 0.5, value: 0.5)
    @journal.add("figure", text: "cost", sense: "at_most", bound: 1.4, value: 1.5)
    @journal.add("figure", text: "unknown", sense: "at_most", bound: 1, value: nil)
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_text
    text = Bench::Report.new(Bench::Journal.read(@journal.path)).text
    assert_match(/^base +1,500 +1\.00 +2\.50$/, text)
    assert_match(/^other \(1\.2\) +1,000 +0\.50 +2\.50 +ERRORS: 6 status$/, text)
    assert_match(/^reached: speed: 0\.5 \(at least 0\.5\)$/, text)
    assert_match(/^NOT reached: cost: 1\.5 \(at most 1\.4\)$/, text)
    assert_match(/^not measured: 1 figures/, text)
    assert_match(/Not measured: third: not installed/, text)
    assert_match(/Only 3 of the 5 rounds/, text)
    assert_match(/Disturbed.*: 1 of 6 runs/, text)
  end

  def test_markdown
    markdown = Bench::Report.new(@journal).markdown
    assert_includes markdown, "| server | requests/s | times base | p99 ms | notes |\n|---|---:|---:|---:|---|\n"
    assert_includes markdown, "| other (1.2) | 1,000 | 0.50 | 2.50 | ERRORS: 6 status |"
    assert_includes markdown, "- NOT reached: cost: 1.5 (at most 1.4)"
  end

  private

  def ran(name, round, rate, errors: {})
    others = name == "base" && round == 2 ? 0.2 : 0.0
    @journal.add("run", name: name, round: round, figures: { rate: rate, p99: 2500, errors: errors, others: others })
  end
end
