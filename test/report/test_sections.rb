# frozen_string_literal: true

require "test_helper"

# The registry of a page's sections.
class TestReportSections < Minitest::Test
  include TemporaryDirectory

  def setup
    @page = Module.new.extend(Cuttle::Report::Sections)
    @page.const_set(:PARTS, Cuttle::Report::Parts.new(@directory))
  end

  def test_sections_have_their_order_and_their_leads
    @page.register("second", "B & C", at: 20, lead: "Read < this.") { |subject| "<#{subject}>" }
    @page.register("first", "A", at: 10) { |subject| [subject.upcase, nil] }
    assert_equal [["first", ["A", "X"]], ["second", ["B & C", '<p class="lead">Read &lt; this.</p>&lt;x&gt;']]],
                 @page.of("x").to_a
  end

  def test_what_shows_nothing_is_left_out
    @page.register("none", "None", at: 10, lead: "Nobody reads this.") { nil }
    @page.register("nils", "Nils", at: 20) { [nil] }
    assert_empty @page.of("x")
  end
end
