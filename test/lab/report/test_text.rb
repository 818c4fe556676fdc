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
    tables = text.split("\n\n").grep(/requests\/s/)

    assert_equal ["1 connection", "5 connections", "20 connections", "100 connections", "150/s"],
                 tables.map { |table| table[/\A(.*?)  /, 1] }
    assert_equal 15, tables[2].lines.length
    assert_match(/^hybrid -w 2 -t 5 +\d+\.\d +\d+\.\d to \d+\.\d +/, tables[2])
  end

  def test_columns_stand_below_each_other
    table = text.split("\n\n").find { |part| part.start_with?("20 connections") }
    edge = table.lines.first.index("requests/s") + "requests/s".length
    table.lines.drop(1).each { |line| assert_match(/\A.*[\d.)]\z/, line[0, edge], line) }
  end

  def test_what_is_to_be_said_against_it
    said = text

    assert_includes said, "! not measured: falcon -w 2: falcon is not installed: cuttle lab peers --install falcon"
    assert_includes said, "! failed: unicorn -w 2, 5 connections, round 2: the server died: undefined method"
    assert_includes said, "! the hypervisor took 3% of the CPU time; measure on a machine of your own"
    assert_includes said, "! not valid: threads -w 2 -t 5, 5 runs: 1 of 2 workers was there"
    assert_includes said, "! left out for the budget: 2 of 7 rounds"
    refute_includes text(clean: true), "!"
  end

  def test_a_warning_of_many_runs_is_said_once
    lab = ReportedLab.new(closed: [5], rates: [], clean: true)
    runs = lab.lines.select { |line| line["type"] == "run" }
    runs.each_with_index do |run, index|
      run["warnings"] << { "name" => "busy", "text" => "others took #{index + 6}%", "advice" => "end what else runs" }
    end
    said = Cuttle::Lab::Report.text(*read(directory(lines: [lab.header, *runs])))

    assert_includes said, "! others took 6% (the first of 70 such runs); end what else runs\n"
    refute_includes said, "others took 7%"
  end

  def test_the_verdict_is_last
    results, analysis = read(directory)
    said = Cuttle::Lab::Report.text(results, analysis)

    refute_empty analysis.verdict
    assert said.end_with?("#{analysis.verdict.join("\n")}\n")
  end

  def test_names_can_not_write_to_the_terminal
    refute_includes text(names: { "c1" => "evil\e[2J\u0007" }), "\e"
  end

  def test_a_lab_without_a_run
    lab = ReportedLab.new
    said = Cuttle::Lab::Report.text(*read(directory(lines: [lab.header])))
    assert_includes said, "did not come to its end"
  end
end
