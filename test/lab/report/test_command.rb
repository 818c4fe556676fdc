# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "support/report_case"

require "cuttle/cli"
require "cuttle/cli/lab"
require "cuttle/cli/lab/compare"
require "cuttle/cli/lab/report"

# `cuttle lab report` and `cuttle lab compare`.
class TestLabReportCommand < Minitest::Test
  include ReportCase

  def setup
    super
    @out = StringIO.new
    @err = StringIO.new
  end

  def report(*arguments)
    Cuttle::CLI::Lab::Report.new(out: @out, err: @err).run(arguments)
  end

  def compare(*arguments)
    Cuttle::CLI::Lab::Compare.new(out: @out, err: @err).run(arguments)
  end

  def test_compare_knows_what_the_commands_say_of_the_requests
    lab = ReportedLab.new(rounds: 2, closed: [5], rates: [], clean: true)
    paths = [%w[--path=/slow], %w[--pat /slow], []].map do |options|
      directory(lines: [lab.header.merge("command" => ["cuttle", "lab", *options]), *lab.lines.drop(1)])
    end

    assert_equal [0, 0], [compare(*paths.first(2)), compare(*paths.last(2))]
    assert_equal 1, @out.string.scan("can't be compared: path (/slow and /).").length
  end

  # The exit status of `cuttle lab` if its lab has these results.
  def measure(directory)
    run = Cuttle::Lab.method(:run)
    Cuttle::Lab.define_singleton_method(:run) { |*, **| directory }
    Cuttle::CLI::Lab.new(out: @out, err: @err).run([])
  ensure
    Cuttle::Lab.define_singleton_method(:run, run)
  end

  def test_report_prints_the_table_and_writes_the_page
    path = directory

    assert_equal 0, report(path)
    assert_includes @out.string, "20 connections"
    assert_equal "#{path}/report.html", @out.string.lines.last.chomp
    assert File.read("#{path}/report.html").start_with?("<!DOCTYPE html>")
    assert_equal %w[report.html results.jsonl], Dir.children(path).sort
  end

  def test_report_as_json_writes_nothing
    path = directory

    assert_equal 0, report("--json", path)
    assert_equal "cuttle-lab-report/1", JSON.parse(@out.string)["schema"]
    assert_equal %w[results.jsonl], Dir.children(path)
  end

  def test_compare
    assert_equal 0, compare(directory(seed: 1), directory(seed: 2))
    assert_includes @out.string, "B / A"
  end

  # `cuttle lab --path /missing` answers, but measures nothing.
  def test_a_lab_without_a_valid_run_measured_nothing
    lines = ReportedLab.new(rounds: 2, closed: [5], rates: [], clean: true).lines
    invalid = lines.map { |line| line["type"] == "run" ? line.merge("valid" => false) : line }

    assert_equal([0, 1], [lines, invalid].map { |each| measure(directory(lines: each)) })
    assert_includes @out.string, "not valid"
  end

  def test_wrong_usage
    [[:report], [:report, "a", "b"], [:report, "--nonsense", "a"], [:compare, "a"]].each do |command, *arguments|
      assert_raises(Cuttle::UsageError) { send(command, *arguments) }
    end
  end

  def test_no_results_are_one_line
    error = assert_raises(Cuttle::Lab::Failure) { report("/nonexistent") }
    refute_includes error.message, "\n"
  end

  def test_a_page_that_can_not_be_written_is_one_line
    path = directory
    Dir.mkdir("#{path}/report.html.new")
    error = assert_raises(Cuttle::Lab::Failure) { report(path) }
    assert_includes error.message, "#{path}/report.html"
  end

  def test_help
    cli = Cuttle::CLI.new(out: @out, err: @err)
    assert_equal [0, 0], [cli.run(%w[lab report --help]), cli.run(%w[lab compare -h])]
    assert_includes @out.string, "cuttle lab report DIR"
    assert_includes @out.string, "cuttle lab compare DIR DIR"
  end
end
