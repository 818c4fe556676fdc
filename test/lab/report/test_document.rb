# frozen_string_literal: true

require "test_helper"
require_relative "support/report_case"

# The report as JSON.
class TestLabReportDocument < Minitest::Test
  include ReportCase

  def document(...)
    JSON.parse(JSON.generate(Cuttle::Lab::Report.json(*read(directory(...)))))
  end

  def test_it_is_plain
    results, analysis = read(directory)
    hash = Cuttle::Lab::Report.json(results, analysis)
    assert_equal hash, JSON.parse(JSON.generate(hash))
  end

  def test_every_run_is_in_it_as_it_was_recorded
    path = directory
    recorded = File.readlines("#{path}/results.jsonl").map { |line| JSON.parse(line) }
    recorded = recorded.select { |each| each["type"] == "run" }
    reported = JSON.parse(JSON.generate(Cuttle::Lab::Report.json(*read(path))))["runs"]

    assert_equal recorded.length, reported.length
    assert_equal recorded.map { |run| run["histogram"] }, (reported.map { |run| run["histogram"] })
  end

  def test_findings
    hash = document

    assert_equal "cuttle-lab-report/1", hash["schema"]
    assert_equal 14 * 5, hash["rows"].length
    row = hash["rows"].find { |each| each.values_at("configuration", "load") == %w[c9 l3] }
    assert_operator row["rate"]["low"], :<, row["rate"]["value"]
    assert_equal ["c15"], hash["controls"].map { |each| each["configuration"] }.uniq
    assert_includes [true, false], hash["comparisons"].first["different"]
    assert_equal "c14", hash["missing"].first["configuration"]
    refute_empty hash["verdict"]
    assert_empty hash["left_out"]
  end

  def test_the_recommendation
    found = document["recommendation"]

    assert_equal [%w[l4 l5], %w[fastest cheapest best_tail]],
                 [found.values_at("closed", "open"), found["choices"].map { |each| each["role"] }]
    assert_includes document["configurations"].map { |each| each["id"] }, found["pick"]["configuration"]
    assert_kind_of Numeric, found["pick"]["memory"]
  end

  def test_numbers_that_json_has_not_are_null
    assert_equal({ "a" => [nil, nil, 1.5] },
                 Cuttle::Lab::Report::Document.plain({ a: [Float::NAN, Float::INFINITY, 1.5] }))
  end
end
