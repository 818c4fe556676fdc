# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"
require_relative "support/measured"

# The report of a benchmark's results.
class TestBenchmarkReport < Minitest::Test
  BUSY = { "name" => "busy", "text" => "other processes took 20% of the cores", "advice" => "end them" }.freeze
  FIGURE = { "figure" => "rate", "of" => "other", "by" => "base", "sense" => "at_least" }.freeze
  NOTE = { "name" => "hello", "title" => "Hello", "columns" => %w[rate rate_ratio p99], "commit" => "abc",
           "figures" => [{ **FIGURE, "text" => "speed", "bound" => 0.5 },
                         { **FIGURE, "text" => "slowness", "sense" => "at_most", "bound" => 0.4 },
                         { **FIGURE, "text" => "unknown", "of" => "third", "bound" => 1 }] }.freeze

  def setup
    rates = { "base" => [1000, 2000, 1500], "other" => [12_000_000, 1000, 750] }
    @results = Measured.results(rates, note: NOTE, missing: { "third" => "not installed" }) do |name, round|
      { "errors" => (name == "other" ? { "status_5xx" => 2, "reset" => 0 } : {}),
        "warnings" => (name == "base" && round == 1 ? [BUSY] : []) }
    end
  end

  def test_text
    text = Bench::Report.new(@results).text
    assert_match(/^base +1,500 +1\.00 +2\.50$/, text)
    assert_match(/^other +1,000 +0\.50 +2\.50 +ERRORS: 6 status_5xx$/, text)
    assert_match(/^reached: speed: 0\.5 \(at least 0\.5\)$/, text)
    assert_match(/^NOT reached: slowness: 0\.5 \(at most 0\.4\)$/, text)
    assert_match(/^not measured: 1 figures: a server did not run, or in one round only$/, text)
    assert_match(/^! not measured: third: not installed/, text)
    assert_match(/^Only 3 of the 5 rounds/, text)
    assert_match(/^! other processes took 20% of the cores/, text)
  end

  def test_markdown
    report = Bench::Report.new(@results)
    assert_includes report.markdown, "| server | requests/s | times base | p99 ms | notes |\n|---|---:|---:|---:|---|\n"
    assert_includes report.markdown, "| other | 1,000 | 0.50 | 2.50 | ERRORS: 6 status_5xx |"
    assert_includes report.markdown, "- NOT reached: slowness: 0.5 (at most 0.4)"
    assert_match(/^`benchmark\/made-up --seed 1`: 3 rounds of 1 s, .* seed 1; interleaved; medians\.$/, report.markdown)
    assert_match(/^date: 2026-11-21; cpu: a 6502$/, report.markdown)
    assert_match(/^- not measured: third: not installed$/, report.markdown)
  end

  def test_markdown_names_no_file_of_the_machine
    lost = { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0, "at" => "2026-11-21T10:00:00Z",
             "reason" => "base ended while it started: /home/me/lib/base.rb:2: cannot load / no such file" }
    report = Bench::Report.new(Measured.results({ "base" => [1] }, note: NOTE, more: [lost]))
    assert_includes report.text, "/home/me"
    assert_match(/^- failed: base, a load, round 1: base ended while it started$/, report.markdown)
  end

  def test_without_figures_to_reach
    results = Measured.results({ "base" => [1] }, note: NOTE.merge("figures" => []))
    refute_match(/^- *$/, Bench::Report.new(results).markdown)
  end

  def test_another_lab
    error = assert_raises(Cuttle::Lab::Failure) { Bench::Report.new(Measured.results({ "a" => [1] }, note: nil)) }
    assert_match(/not of a benchmark/, error.message)
  end
end
