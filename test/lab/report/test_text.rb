# frozen_string_literal: true

require "test_helper"
require_relative "support/report_case"

# The table on the terminal.
class TestLabReportText < Minitest::Test
  include ReportCase

  def text(...)
    Cuttle::Lab::Report.text(*read(directory(...)))
  end

  def test_a_table_for_each_load_with_every_configuration
    tables = text.split("\n\n").grep(/  ratio  /)

    assert_equal ["1 connection", "5 connections", "20 connections", "100 connections", "150/s"],
                 tables.map { |table| table[/\A(.*?)  /, 1] }
    assert_equal 14, tables[2].lines.drop(1).grep(/  /).length
    assert_match(/^hybrid -w 2 -t 5 +\d+\.\d +\d+\.\d to \d+\.\d +/, tables[2])
  end

  def test_columns_stand_below_each_other
    table = text.split("\n\n").find { |part| part.start_with?("20 connections") }
    edge = table.lines.first.index("requests/s") + "requests/s".length
    table.lines.drop(1).grep(/  /).each { |line| assert_match(/\A.*[\d.)]\z/, line[0, edge], line) }
  end

  def test_the_text_has_every_warning
    said = text

    assert_includes said, "! not measured: falcon -w 2: falcon is not installed: cuttle lab peers --install falcon"
    assert_includes said, "! failed: unicorn -w 2, 5 connections, round 2: the server died: undefined method"
    assert_includes said, "! the hypervisor took 3% of the CPU time; measure on a machine of your own"
    assert_includes said, "! not valid: threads -w 2 -t 5, 5 runs: 1 of 2 workers was there"
    assert_includes said, "! left out for the budget: 2 of 7 rounds"
    refute_includes text(clean: true), "!"
  end

  def test_what_was_left_out_for_the_budget
    lab = ReportedLab.new(closed: [5], rates: [], clean: true)
    kept = lab.lines.reject { |line| line["type"] == "run" && line["configuration"] == "c1" && line["block"].positive? }
    left_out = { "type" => "left_out", "configuration" => "c1", "block" => 0, "reason" => "far behind" }
    said = Cuttle::Lab::Report.text(*read(directory(lines: [*kept, left_out])))

    assert_includes said, "! left out after round 1, for the budget: single (far behind)\n"
    assert_match(/^left out for the budget\nsingle .* 1\n/, said)
  end

  def test_what_was_not_compared_is_counted_and_named
    lab = ReportedLab.new(closed: [20], rates: [], clean: true)
    kept = lab.lines.reject { |line| line["type"] == "run" && %w[c1 c2].include?(line["configuration"]) }
    said = Cuttle::Lab::Report.text(*read(directory(lines: kept)))

    assert_match(/^Run .*\. 3 of 14 configurations were not compared with the best\.$/, said)
    assert_match(/^Not measured in enough rounds: single, threads -t 5, falcon -w 2\.$/, said)
  end

  def test_the_worst_speed_is_the_lowest
    lab = ReportedLab.new(closed: [5], rates: [], clean: true)
    runs = lab.lines.select { |line| line["type"] == "run" }
    runs.each_with_index do |run, index|
      run["warnings"] << { "name" => "slow", "text" => "a core ran at #{[70, 9.5, 60][index % 3]}%", "advice" => nil }
    end

    said = Cuttle::Lab::Report.text(*read(directory(lines: [lab.header, *runs])))

    assert_includes said, "! a core ran at 9.5% (the worst of 70 such runs)"
  end

  def test_a_warning_of_many_runs_is_printed_once
    lab = ReportedLab.new(closed: [5], rates: [], clean: true)
    runs = lab.lines.select { |line| line["type"] == "run" }
    runs.each_with_index do |run, index|
      run["warnings"] << { "name" => "busy", "text" => "others took #{index + 6}%", "advice" => "end what else runs" }
    end
    said = Cuttle::Lab::Report.text(*read(directory(lines: [lab.header, *runs])))

    assert_includes said, "! others took 75% (the worst of 70 such runs); end what else runs\n"
    refute_includes said, "others took 6%"
  end

  # The best first: those that are as good, then the others, whatever their order in the plan.
  def test_configurations_are_grouped_by_how_they_compare_with_the_best
    table = text.split("\n\n").find { |part| part.start_with?("20 connections") }.lines.map(&:chomp)
    rates = table.grep(/  /).drop(1).map { |line| line[/  +(\d[\d.,]*)/, 1].delete(",").to_f }

    assert_equal "best", table[1]
    assert_includes table, "measurably behind #{table[2][/\A.*?(?=  )/]}"
    assert_equal rates.sort.reverse, rates
  end

  def test_what_to_run_is_last_after_the_verdict
    results, analysis = read(directory)
    said = Cuttle::Lab::Report.text(results, analysis)
    verdict, recommendation = said.split("\n\n").last(3).then { |parts| [parts[0], parts[1..].join("\n\n")] }

    refute_empty analysis.verdict
    assert_equal analysis.verdict.join("\n"), verdict
    assert_equal ["", "configuration", "requests/s at 100 connections", "p95 at 150/s", "memory", "CPU"],
                 recommendation.lines.first.chomp.split(/  +/)
    assert_match(/^fastest/, recommendation)
    assert_match(/^Run .*: .* requests\/s at 100 connections, p95 .* ms at 150\/s, .* MB\.$/, recommendation)
    assert_match(/^Nothing is measurably faster by 3% or more/, recommendation)
  end

  def test_names_can_not_write_to_the_terminal
    refute_includes text(names: { "c1" => "evil\e[2J\u0007" }), "\e"
  end

  def test_a_lab_without_a_run
    lab = ReportedLab.new
    said = Cuttle::Lab::Report.text(*read(directory(lines: [lab.header])))
    assert_includes said, "was not completed"
  end
end
