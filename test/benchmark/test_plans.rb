# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# The plans of benchmark/ as their scripts declare them, without a run.
class TestBenchmarkPlans < Minitest::Test
  SCRIPTS = Dir["#{Bench::ROOT}/benchmark/*"].select do |path|
    File.file?(path) && File.read(path).include?("Bench.run(") && !path.end_with?("against") # which needs a commit
  end

  # --list raises if a figure names a subject that its plan doesn't have.
  def test_each_script_lists_its_subjects_and_its_figures
    assert_operator SCRIPTS.length, :>, 10
    SCRIPTS.each do |path|
      subjects, figures = list(path).split("\n\n").map { |part| part.lines(chomp: true) }
      assert_equal subjects.uniq, subjects, path
      figures.to_a.each { |line| assert_match(/: at (least|most) [\d.]+\z/, line, path) }
    end
  end

  def test_a_figure_of_a_subject_that_is_not_in_the_plan
    plan = Bench::Plan.new("x", "X", [])
    plan.serve("here", plan.load(connections: 1))
    plan.figure("speed", :rate, of: "here", by: 100, at_least: 1)
    assert_equal ["speed: at least 1"], plan.goals
    plan.figure("nothing", :rate, of: %w[here], by: %w[here there], at_most: 2)
    error = assert_raises(ArgumentError) { plan.goals }
    assert_equal "no subject is called there", error.message
    assert_raises(ArgumentError) { plan.options(Bench::Options.new([], name: "x", rounds: 1, seconds: 1)) }
  end

  def test_the_bound_for_the_responders_cpu_time_depends_on_ruby
    assert_equal 1.2, Bench.most_of_canned("4.0.5", yjit: true)
    assert_equal 1.35, Bench.most_of_canned("3.1.2", yjit: false)
    assert_equal 1.35, Bench.most_of_canned("3.4.1", yjit: true)
    assert_equal 1.35, Bench.most_of_canned("4.0.5", yjit: false)
    bound = Regexp.escape("CPU time per request, times canned's: at most #{Bench.most_of_canned}")
    assert_match(/^cuttle reactor: upper 95% bound of #{bound}$/, list("#{Bench::ROOT}/benchmark/hello"))
  end

  def test_the_command_that_measures_everything_fills_every_place
    command = File.read("#{Bench::ROOT}/benchmark/README.md")[/^    for plan in (.*?); do benchmark/m, 1]
    plans = Shellwords.split(command.gsub("\\\n", " ")).map { |words| words.split.first }
    places = Bench::Document.new("#{Bench::ROOT}/docs/performance.md").names
    assert_equal places.map { |name| name[/\A[a-z]+/] }, plans
  end

  private

  # What the script prints with --list. Its constants and methods stay in a module of its own.
  def list(path)
    arguments = ARGV.dup
    ARGV.replace(["--list"])
    capture_io { load(path, true) }.first
  ensure
    ARGV.replace(arguments)
  end
end
