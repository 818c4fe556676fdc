# frozen_string_literal: true

require "test_helper"
require_relative "support/report_case"

# The page as text: what is in it, and that what comes from outside can't change what it is.
class TestLabReportPage < Minitest::Test
  include ReportCase

  # A lab with something of everything, whose page takes a tenth of the time.
  SMALL = { rounds: 2, closed: [1, 5], rates: [] }.freeze

  EVIL = %(</script><script>alert(1)</script><img src=x onerror="alert(2)">'"&)

  # The embedded JSON.
  def data(page)
    JSON.parse(page[%r{<script type="application/json" id="cuttle-lab-data">(.*?)</script>}m, 1])
  end

  def test_every_section_is_there_and_in_the_contents
    page = html

    %w[verdict warnings table ratios throughput times percentiles over-time memory runs errors validity missing fairness
       environment reproduce].each do |anchor|
      assert_includes page, %(<section id="#{anchor}"), anchor
      assert_includes page, %(href="##{anchor}"), anchor
    end
  end

  # Runs that were too short: rates, and not one percentile.
  def test_without_any_response_times
    few = ReportedLab.new(**SMALL, clean: true).lines.map do |line|
      line["type"] == "run" ? line.merge("ms" => line["ms"].transform_values { nil }, "windows" => []) : line
    end
    page = Cuttle::Lab::Report.html(*read(directory(lines: few)))
    assert_includes page, %(<section id="throughput")
    refute_includes page, %(<section id="over-time")
  end

  def test_what_to_run_comes_first_then_the_verdict
    page = html
    places = %w[recommendation verdict table].map { |anchor| page.index(%(<section id="#{anchor}")) }
    assert_equal places.sort, places
    assert_match(%r{<section id="recommendation".*?<p>Run <b class="configuration">.*?</b>: \d}m, page)
  end

  def test_a_control_that_disagrees_comes_first
    lines = ReportedLab.new(closed: [5, 20], rates: [], clean: true).lines
    lines.each { |line| line["rate"] *= 1.2 if line.values_at("configuration", "load") == %w[c15 l2] }
    page = Cuttle::Lab::Report.html(*read(directory(lines: lines)))
    first, verdict = %w[recommendation verdict].map { |name| page[/<section id="#{name}".*?<p>(.*?)<\/p>/m, 1] }

    assert_match(/\AThe control disagrees at 20 connections: .*This lab can&#39;t recommend/, first)
    assert_match(/\Athe control disagrees at 20 connections: /, verdict)
  end

  # On a narrow screen a row is a block, so each cell has the name of its column.
  def test_cells_know_their_columns
    page = html
    labels = page[/<section id="table".*?<\/section>/m].scan(/<td[^>]* data-label="([^"]+)"/).flatten.uniq
    assert_equal Cuttle::Lab::Report::Table::COLUMNS.map(&:name), labels
  end

  def test_it_loads_nothing_and_runs_nothing
    page = html

    refute_match(%r{(?:src|href)="(?!#|data:,")}, page)
    refute_match(/@import|url\(/, page)
    assert_equal ["script type=\"application/json\" id=\"cuttle-lab-data\""], page.scan(/<(script[^>]*)>/).flatten
    assert_includes page, "default-src &#39;none&#39;"
  end

  def test_the_raw_data_is_that_of_the_document
    path = directory
    page = Cuttle::Lab::Report.html(*read(path))
    assert_equal JSON.parse(JSON.generate(Cuttle::Lab::Report.json(*read(path)))), data(page)
  end

  def test_the_page_counts_repeated_runs
    lines = ReportedLab.new(**SMALL).lines
    lines.select { |line| line["type"] == "run" }.first(2).each { |run| run["repeated"] = true }
    page = Cuttle::Lab::Report.html(*read(directory(lines: lines)))

    said = page[/\d+ runs? repeated[^<]*/]
    assert_equal "2 runs repeated, because other programs used the servers&#39; cores, or these cores were slow.", said
  end

  # Nothing is known of a warm-up that was too short, however many responses it had.
  def test_the_page_counts_runs_whose_warm_up_shows_nothing
    lines = ReportedLab.new(**SMALL, clean: true).lines
    lines.select { |line| line["type"] == "run" }.first(2).each { |run| run["steady"] = nil }

    assert_includes Cuttle::Lab::Report.html(*read(directory(lines: lines))),
                    "2 runs had too short a warm-up, or too few responses in it, to show that."
  end

  def test_text_from_outside_stays_text
    lab = ReportedLab.new(**SMALL, names: { "c1" => EVIL, "c3" => EVIL, "c13" => EVIL })
    page = Cuttle::Lab::Report.html(*read(directory(lines: poisoned(lab.lines))))

    refute_match(/<script>|<img/, page)
    assert_equal 1, page.scan("</script>").length
    assert_includes page, "&lt;/script&gt;&lt;script&gt;alert(1)"
    assert_equal EVIL, data(page)["configurations"].first["name"]
  end

  def poisoned(lines)
    header = lines.first
    lines.first["app"] = { "name" => EVIL, "profile" => { EVIL => EVIL } }
    header["environment"][EVIL] = EVIL
    header["fairness"] << { "what" => EVIL, "same" => false, "detail" => EVIL }
    header["command"] << EVIL
    header["cut"] << EVIL
    header["loads"].first["name"] = EVIL
    run = lines.find { |line| line["type"] == "run" }
    run["errors"][EVIL] = 2
    run["marks"] << { "name" => EVIL, "text" => EVIL }
    run["warnings"] << { "name" => EVIL, "text" => EVIL, "advice" => EVIL }
    run["proof"] << { "setting" => EVIL, "wanted" => EVIL, "found" => EVIL, "proved" => false, "how" => EVIL }
    lines + [{ "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0, "reason" => EVIL },
             { "type" => "warning", "name" => "x", "text" => EVIL, "advice" => EVIL }]
  end

  def test_charts_have_titles_descriptions_and_labels
    svgs = html.scan(/<svg viewBox="0 0 360 .*?<\/svg>/m)

    refute_empty svgs
    svgs.each do |svg|
      assert_match(/role="img" aria-label="[^"]{10,}"/, svg)
      assert_match(%r{\A<svg[^>]*><title>[^<]{5,}</title><desc>[^<]{5,}</desc>}, svg)
      assert_match(/<text class="tick/, svg)
      refute_match(/NaN|Infinity|e-\d/, svg)
    end
  end

  def test_ratios_of_one_round_are_not_called_alike
    ratios = html(rounds: 1, closed: [5], rates: [], clean: true)[/<section id="ratios".*?<\/section>/m]

    assert_equal 13, ratios.scan(", too few rounds to tell<").length
    refute_includes ratios, ", no measurable difference<"
  end

  def test_every_run_has_a_dot
    runs = html[/<section id="runs".*?<\/section>/m]
    assert_equal 14 * 5 * 5, runs.scan('<path class="marker').length
    assert_equal 5, runs.scan("not valid: 1 of 2 workers was there").length
  end

  def test_short_runs_are_shown_from_round_to_round
    lab = ReportedLab.new(closed: [5], rates: [], clean: true)
    lines = lab.lines.each { |line| line["windows"] = line["windows"].first(1) if line["type"] == "run" }
    section = Cuttle::Lab::Report.html(*read(directory(lines: lines)))[/<section id="over-time".*?<\/section>/m]

    assert_includes section, ">round</text>"
    assert_equal 13 * 2 * 5, section.scan(/<path class="marker[^>]*><title>[\d.]+ ms/).length
    assert_includes html, ">second</text>"
  end

  def test_the_command_is_one_that_a_shell_understands
    lab = ReportedLab.new(**SMALL)
    header = lab.header.merge("command" => ["cuttle", "lab", "my app.ru", "--rounds", "5"], "seed" => 7)
    page = Cuttle::Lab::Report.html(*read(directory(lines: [header, *lab.lines.drop(1)])))
    assert_includes page, "cuttle lab my\\ app.ru --rounds 5 --seed 7"
  end

  def test_a_lab_of_one_run
    lab = ReportedLab.new(rounds: 1, closed: [5], rates: [])
    run = lab.lines.find { |line| line["type"] == "run" }
    page = Cuttle::Lab::Report.html(*read(directory(lines: [lab.header, run])))

    assert_includes page, %(<section id="runs")
    refute_includes page, %(<section id="throughput")
    assert_includes page, "was not completed"
  end

  def test_a_lab_without_a_run
    page = Cuttle::Lab::Report.html(*read(directory(lines: [ReportedLab.new.header])))

    assert_includes page, %(<section id="environment")
    refute_includes page, %(<section id="table")
  end

  def test_a_run_that_has_next_to_nothing
    lab = ReportedLab.new(closed: [1, 5], rates: [])
    bare = { "type" => "run", "configuration" => "c1", "load" => "l1", "block" => 0, "valid" => true, "rate" => 12.0 }
    failed = { "type" => "run", "configuration" => "c2", "load" => "l2", "block" => 0, "valid" => false }
    page = Cuttle::Lab::Report.html(*read(directory(lines: [lab.header, bare, failed])))

    assert_includes page, "12.0"
  end
end
