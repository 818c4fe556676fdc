# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# The sentences of a recommendation.
class TestLabReportRecommendation < Minitest::Test
  # fibers is the cheapest of the fastest, and single the one whose p95 is the shortest.
  FIGURES = { "fibers" => [400.0, 60.0], "single" => [200.0, 30.0] }.freeze

  # [requests/s, p95 in ms] of each. restless: a name and the index of the load under which it scatters.
  def sentences(figures = FIGURES, restless: nil, loops: %w[closed open])
    lab = MixedLab.new(figures.keys, loops: loops, blocks: 6) do |name, load, _, random|
      deviation = [name, load] == restless ? 1.0 : 0.003
      figures[name][loops[load] == "open" ? 1 : 0] * Math.exp(deviation * SyntheticLab.gauss(random))
    end
    view = Cuttle::Lab::Report::View.new(lab.results, lab.analysis)
    found = Cuttle::Lab::Report::Recommendation.new(view)
    [found.sentence, *found.notes]
  end

  def test_what_a_user_gives_up_is_said_if_it_is_proved
    assert_includes sentences.join("\n"), "At 100/s, its p95 is 1.99 times that of single (95%: 1.98 to 2.00)."
  end

  def test_what_is_not_proved_is_not_said_and_has_the_name_of_its_load
    said = sentences(restless: ["single", 1]).join("\n")

    refute_includes said, " times that of "
    assert_match(%r{^Too few rounds to compare with single at 100/s: fibers\.$}, said)
  end
end
