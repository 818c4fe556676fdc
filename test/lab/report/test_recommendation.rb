# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# The sentences of a recommendation.
class TestLabReportRecommendation < Minitest::Test
  # fibers is the cheapest of the fastest, and single the one whose p95 is the shortest.
  FIGURES = { "fibers" => [400.0, 60.0], "single" => [200.0, 30.0] }.freeze

  WOBBLE = [0.5, -0.3, 0.2, -0.5, 0.1, 0].freeze

  # [requests/s, p95 in ms] of each. restless: a name and the index of the load under which it scatters.
  def sentences(figures = FIGURES, restless: nil, blocks: 6, ended: true, failures: [])
    lab = MixedLab.new(figures.keys, loops: %w[closed open], blocks: blocks) do |name, load, block|
      scatter = restless == [name, load] ? 2.0 : 0.003
      figures[name][load] * Math.exp(scatter * WOBBLE[(block + figures.keys.index(name)) % 6])
    end
    lines = SyntheticLab::Lines.new(lab.header, failures + (ended ? lab.records : lab.runs), [])
    results = Cuttle::Lab::Results.new(lines, "synthetic/results.jsonl")
    view = Cuttle::Lab::Report::View.new(results, Cuttle::Lab::Analysis.new(results))
    found = Cuttle::Lab::Report::Recommendation.new(view)
    [found.sentence, *found.notes]
  end

  def test_what_a_user_gives_up_is_said_if_it_is_proved
    assert_includes sentences.join("\n"), "At 100/s, its p95 is 2.00 times that of single (95%: 2.00 to 2.00)."
  end

  def test_what_failed_is_not_recommended_and_named
    failure = { "type" => "failure", "configuration" => "c1", "load" => "l2", "block" => 1, "reason" => "it died" }
    said = sentences(FIGURES.merge("hybrid" => [400.0, 60.0]), failures: [failure])

    assert_match(/\ARun hybrid: /, said.first)
    assert_includes said, "Not recommended: fibers; each had runs that failed or were not valid, or was overloaded."
  end

  def test_without_a_closed_loop_the_cheapest_is_not_one_of_these
    lab = MixedLab.new(FIGURES.keys, loops: %w[open], blocks: 6) { |name| FIGURES[name][1] }
    rows = Cuttle::Lab::Report::Recommendation.new(Cuttle::Lab::Report::View.new(lab.results, lab.analysis)).rows

    assert_equal ["cheapest of the best", "best response times"], rows.map(&:first)
  end

  def test_too_few_rounds_say_what_would_help
    assert_equal "Too few rounds to recommend a configuration: make more rounds (--rounds, or a longer --budget), or " \
                 "name fewer configurations.", sentences(blocks: 1).first
    assert_equal "Too few rounds to recommend a configuration: continue the lab (--resume synthetic).",
                 sentences(blocks: 1, ended: false).first
  end

  def test_what_is_not_proved_is_not_said_and_has_the_name_of_its_load
    said = sentences(restless: ["single", 1]).join("\n")

    refute_includes said, " times that of "
    assert_match(%r{^Too few rounds to compare with single at 100/s: fibers\.$}, said)
  end
end
