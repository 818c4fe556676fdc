# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/support/bench"
require_relative "../report/support/looked_at"
require_relative "support/measured"

# The picture of hello's results.
class TestBenchmarkPicture < Minitest::Test
  ALONE = "cuttle single, 1 connection"
  # Subject => microseconds of CPU time per request in each round.
  COSTS = { "canned" => [5.0, 5.2, 5.1], "canned, edge triggered" => [4, 4, 4], "puma" => [40.0, 44.0, 42.0],
            "cuttle reactor" => [6.3, 6.1, 6.2], "cuttle fibers" => [7.0, 6.6, 6.8], "thin" => [18.0, 18.0, 18.0],
            ALONE => [30, 30, 30] }.freeze

  def test_servers_from_the_least_cpu_time_to_the_most_below_the_kernel
    svg = picture.svg
    assert_equal ["line: kernel&#39;s part (canned)", "cuttle reactor", "cuttle fibers", "thin", "puma"],
                 svg.scan(%r{class="name"[^>]*>([^<]+)<title}).flatten
    assert_equal %w[s1 s1 s2 s2], svg.scan(/class="bar (s\d)"/).flatten
    assert_match(/class="figure end"[^>]*>6\.20 \(\d\.\d\d to \d\.\d\d\)</, svg)
    assert_includes svg, ">microseconds of CPU time per request<"
  end

  def test_text_alternative
    assert_equal "![CPU time of a request by server, in microseconds: line: kernel's part (canned) 5.10; " \
                 "cuttle reactor 6.20; cuttle fibers 6.80; thin 18.00; puma 42.00](images/hello.svg)",
                 picture.markdown("images/hello.svg")
  end

  def test_a_subject_without_a_valid_run_has_no_bar
    svg = picture { |name, _| { "valid" => name != "puma" } }.svg
    assert_includes svg, "thin"
    refute_includes svg, "puma"
    assert_predicate picture { |_, _| { "valid" => false } }, :empty?
  end

  def test_a_single_round_has_no_intervals
    svg = picture(COSTS.transform_values { |costs| costs.first(1) }).svg
    assert_match(/class="figure end"[^>]*>40\.00</, svg)
    refute_includes svg, "<path class=\"whisker"
  end

  def test_in_a_browser
    skip "Chromium is not installed (Debian: chromium)" unless Chromium.program
    Dir.mktmpdir do |directory|
      File.write("#{directory}/hello.svg", picture.svg)
      colours = LookedAt::SCHEMES.map { |scheme| look(directory, scheme) }
      assert_equal colours.flatten.uniq.length, colours.flatten.length, "a colour is the same in both schemes"
    end
  end

  private

  # run: what a run has beside its CPU time.
  def picture(costs = COSTS, &run)
    lab = Measured.results(costs, bases: { ALONE => ALONE }) do |name, round|
      { "server" => { "cpu_us" => costs[name][round] }, **(run ? run.call(name, round) : {}) }
    end
    Bench::Picture.new(lab)
  end

  # The colours of background and text.
  def look(directory, scheme)
    browser = LookedAt.browser
    browser.visit("#{directory}/hello.svg", width: 480, scheme: scheme)
    assert_empty browser.complaints
    assert_empty browser.evaluate(LookedAt::CROWDED)
    browser.evaluate("['.sheet', '.name'].map(each => getComputedStyle(document.querySelector(each)).fill)")
  end
end
