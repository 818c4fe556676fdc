# frozen_string_literal: true

require "test_helper"
require_relative "../support/studies_case"

# The page over all studies, as text.
class TestStudiesPage < Minitest::Test
  include StudiesCase

  PAGES = {}
  EVIL = %(</style><script>alert(1)</script><img src=x onerror="alert(2)">)

  def test_a_section_for_each_study_after_what_became_of_the_claims
    page = render("s0-ab", "s0-sweeps", "q1-threads")
    assert_equal %w[threats claims s0-ab s0-sweeps q1-threads], page.scan(/<section id="([^"]+)"/).flatten
    %w[threats claims q1-threads s0-ab s0-sweeps].each { |anchor| assert_includes page, %(<a href="##{anchor}">) }
    [study("s0-ab").question, *study("s0-ab").flaws, "cuttle study s0-ab --rounds 3 --seed 1"]
      .each { |text| assert_includes page, Cuttle::Report::Markup.escape(text) }
  end

  def test_it_loads_nothing_and_runs_nothing
    page = render("s0-ab", "q1-threads")
    refute_match(%r{(?:src|href)="(?!#|data:,")}, page)
    refute_match(/@import|url\(|<script/, page)
    assert_includes page, "default-src &#39;none&#39;"
  end

  def test_each_claim_has_its_verdict_and_its_interval
    page = Studies::Report::Page.render(keep("s0-ab"))
    list = page[%r{<ul class="claims">.*?</ul>}m]
    findings = Studies::Archive.all(@root).first
    assert_equal findings.verdicts.map(&:word),
                 list.scan(%r{<b class="word \w+">([^<]+)</b>}).flatten
    findings.verdicts.flat_map(&:evidence).map(&:found).each do |found|
      assert_includes list, Studies::Report::Figures.ratio(found)
    end
    assert_equal findings.verdicts.flat_map(&:evidence).length, page.scan('class="claimed"').length
  end

  # Rows with others beside them are drawn as a line, all others as a ratio to the published value.
  def test_what_was_published_against_ours
    sweeps = render("s0-sweeps")
    assert_equal 15, sweeps.scan(/<svg[^>]*aria-label="requests\/s against connections: s0\.1[123] cuttle like/).length
    assert_includes sweeps, "Cuttle: 2.97 at 1,"
    assert_match(/>published 2013-06-25</, sweeps)
    forest = render("s0-ab")[%r{<svg[^>]*aria-label="requests/s, ours by the published.*?</svg>}m]
    published = study("s0-ab").entries.select { |entry| entry.row.file }
    assert_equal published.sum { |entry| entry.conditions.length }, forest.scan('class="marker').length
  end

  # One figure for each publication, in which only the shape counts.
  def test_the_shape_of_what_was_published_against_ours
    shapes = render("s0-ab", "s0-sweeps", "q1-threads").scan(%r{<svg[^>]*aria-label="requests/s: the shape.*?</svg>}m)
    assert_equal 2, shapes.length
    shapes.each { |shape| assert_operator shape.scan('class="marker').length, :>=, 20 }
  end

  def test_questions_are_drawn_alone
    page = render("q1-threads")
    assert_match(/<svg[^>]*aria-label="requests\/s against connections: q1\. threads 1: 2\.97 at 1/, page)
    assert_match(/<svg[^>]*aria-label="requests\/s\. cuttle like puma -t 8: 23\.8 \(/, page)
    refute_includes page, "ours by the published"
  end

  def test_charts_have_titles_descriptions_and_labels
    svgs = render("s0-ab", "s0-sweeps", "q1-threads").scan(/<svg viewBox="0 0 360 .*?<\/svg>/m)
    assert_operator svgs.length, :>, 20
    svgs.each do |svg|
      assert_match(/role="img" aria-label="[^"]{10,}"/, svg)
      assert_match(%r{\A<svg[^>]*><title>[^<]{3,}</title><desc>[^<]{5,}</desc>}, svg)
      assert_match(/<text class="tick/, svg)
      refute_match(/NaN|Infinity|e-\d/, svg)
    end
  end

  def test_every_row_is_in_a_table
    page = render("s0-sweeps")
    table = page[%r{<details class="load">.*?</details>}m]
    assert_equal study("s0-sweeps").entries.length, table.scan("<tr><th scope=\"row\"").length
  end

  def test_the_page_names_what_is_missing_or_failed
    failure = { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0, "reason" => EVIL }
    Studies::Archive.take(lab("q1-threads", missing: "puma").write("#{@directory}/full", more: [failure]), @root)
    page = Studies::Report::Page.render(Studies::Archive.all(@root))
    refute_match(/<script|<img/, page)
    assert_includes page, "Not measured: puma -t 8: not here."
    assert_includes page, "not testable here"
    assert_includes page, "&lt;/style&gt;&lt;script&gt;"
  end

  def test_a_study_with_one_block_has_a_page_without_intervals
    page = Studies::Report::Page.render(keep("q1-threads", blocks: 1))
    assert_includes page, "not decided"
    refute_match(/NaN|Infinity/, page)
  end

  def test_nothing_that_was_measured
    nothing = lab("q1-threads", missing: "cuttle").write("#{@directory}/full")
    Studies::Archive.take(nothing, @root)
    assert_includes Studies::Report::Page.render(Studies::Archive.all(@root)), "not testable here"
  end

  private

  # Once of the same studies.
  def render(*names)
    PAGES[names] ||= Studies::Report::Page.render(keep(*names))
  end
end
