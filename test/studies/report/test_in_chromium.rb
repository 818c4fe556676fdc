# frozen_string_literal: true

require "test_helper"
require_relative "../support/studies_case"
require_relative "../../report/support/looked_at"

# The page over all studies in a browser.
class TestStudiesPageInChromium < Minitest::Test
  include StudiesCase
  include LookedAt

  # All that a page can have: curves, ratios, questions, what is missing, what failed.
  def self.page(findings)
    @page ||= Cuttle::Studies::Report::Page.render(findings.call)
  end

  def setup
    super
    look_at("#{@directory}/report.html", self.class.page(method(:findings)))
  end

  def findings
    keep("s0-ab", "s0-sweeps", "q1-threads", scale: 0.5)
  end

  def test_verdicts_and_charts_are_there
    each_view do |_, view|
      assert_operator browser.evaluate("document.querySelectorAll('svg[role=img]').length"), :>, 20, view
      assert_includes browser.evaluate("document.querySelector('#s0-ab .claims').textContent"), "on Cuttle"
      assert_includes browser.evaluate("document.querySelector('#s0-ab .legend').textContent"), "refuted"
      assert_includes browser.evaluate("document.querySelector('#s0-sweeps .charts').textContent"), "published 2013"
    end
  end

  # Colours are never alone: the word stands there, and marks differ in shape.
  def test_verdicts_have_different_colours_in_both_schemes
    each_view do |_, view|
      backgrounds = browser.evaluate(<<~JS)
        Array.from(new Set(Array.from(document.querySelectorAll(".word"))
          .map(each => each.textContent + " " + getComputedStyle(each).backgroundColor)))
      JS
      assert_equal backgrounds.length, backgrounds.map { |each| each[/\A\D+(?= rgb)/] }.uniq.length, view
      assert_operator backgrounds.length, :>=, 3, view
    end
  end
end
