# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "tmpdir"
require_relative "../../bin/support/suites"

# How bin/test reads a suite's output: what failed, whether to run it a second time, and whether that proves anything.
class TestSuites < Minitest::Test
  # As minitest writes it.
  OUTPUT = <<~TEXT
    Finished in 0.04s, 49.5 runs/s, 24.7 assertions/s.

      1) Failure:
    TestFails#test_b [test/test_fails.rb:4]:
    Expected: 1
      Actual: 2

      2) Error:
    TestFails(hybrid, alone)#test_a:
    RuntimeError: oops

    a second paragraph
    %s
    12 runs, 1 assertions, 1 failures, 1 errors, 3 skips
  TEXT

  PASSED = "Finished in 1s, 1 runs/s.\n\n2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n"

  def test_every_fault_of_every_run
    first = format(OUTPUT, "")
    faults = result("# Running:\n\n.F\n#{first}#{PASSED}#{first}").faults
    assert_equal 4, faults.length
    assert_equal "1) Failure:\nTestFails#test_b [test/test_fails.rb:4]:\nExpected: 1\n  Actual: 2", faults[0]
    assert_match(/\A2\) Error:\nTestFails\(hybrid, alone\)#test_a:\nRuntimeError: oops\n\na second paragraph\z/,
                 faults[1])
  end

  def test_only_the_beginning_of_a_long_one
    fault = result(format(OUTPUT, "    from here\n" * 100)).faults.last
    assert_equal Suites::Result::LINES, fault.lines.length
    assert_match(/\A2\) Error:\n/, fault)
  end

  def test_the_names_of_those_that_failed
    failed = result(format(OUTPUT, "")).failed
    assert_equal({ "TestFails#test_b" => "Expected: 1", "TestFails(hybrid, alone)#test_a" => "RuntimeError: oops" },
                 failed)
  end

  def test_what_says_more_than_names_is_not_the_whole_truth
    output = format(OUTPUT, "")
    assert_predicate result(output), :complete?
    refute_predicate result("#{output}\nRunner::Pool::Broken: the process ended\n"), :complete?
    assert_predicate result("#{output}\nRunner::Pool::Broken: the test hangs: no end\n"), :complete?
    refute_predicate result("#{output}  | ==7==ERROR: AddressSanitizer: heap-use-after-free\n"), :complete?
    refute_predicate result("Interrupted. Exiting...\n#{output}"), :complete?
    refute_predicate result(output.sub("1 errors", "2 errors")), :complete?
  end

  def test_a_second_run_of_just_these_proves_them
    first = result(format(OUTPUT, ""))
    first.second = result(PASSED, passed: true)
    assert_predicate first, :passed?
    assert_equal [12, 1, 0, 0, 3], first.counts
    assert_equal "suite: passed in its second run only", first.outcome
  end

  def test_a_second_run_that_proves_nothing
    { "a skip" => ["0 skips", "1 skips"], "a test less" => ["2 runs", "1 runs"] }.each do |what, (is, was)|
      first = result(format(OUTPUT, ""))
      first.second = result(PASSED.sub(is, was), passed: true)
      refute_predicate first, :passed?, what
      assert_equal [12, 1, 1, 1, 3], first.counts
    end
  end

  FLAKY = <<~RUBY
    def test_fails_once
      missing = !File.exist?("mark")
      File.write("mark", "")
      refute missing, "too early"
    end

    def test_passes = assert(true)
    def self.name = "Flaky (so)"
  RUBY

  def test_a_test_that_passes_alone_has_passed_and_is_named
    status, output = run_suite(FLAKY)
    assert_predicate status, :success?, output
    assert_includes output, "flaky: passed in its second run only: Flaky (so)#test_fails_once: too early\n"
    assert_match(/^1 runs, 1 assertions, 0 failures/, output)
    assert output.end_with?("\n2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n"), output
  end

  def test_what_fails_twice_has_failed
    status, output = run_suite("def test_fails = flunk(\"no\")")
    refute_predicate status, :success?
    assert_includes output, "flaky: failed: Flaky#test_fails: no\n"
    assert_equal 2, output.scan("== rake it").length, output
    assert output.end_with?("\n1 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n"), output
  end

  def test_a_process_that_dies_has_no_second_run
    status, output = run_suite("def test_dies = File.exist?(\"mark\") || (File.write(\"mark\", \"\"); exit!(1))")
    refute_predicate status, :success?
    assert_equal 1, output.scan("== rake it").length, output
  end

  def test_more_than_a_few_have_no_second_run
    status, output = run_suite("#{Suites::MOST + 1}.times { |number| define_method(\"test_\#{number}\") { flunk } }")
    refute_predicate status, :success?
    assert_equal 1, output.scan("== rake it").length, output
  end

  def test_a_name_that_no_test_has_is_no_second_run
    directory = File.expand_path("..", __dir__)
    command = [RbConfig.ruby, "-I#{directory}", "-rrunner", "-e", "require 'minitest/autorun'"]
    output, status = Open3.capture2e({ "CUTTLE_ONLY" => "TestGone#test_it" }, *command)
    refute_predicate status, :success?
    assert_includes output, "no such test: TestGone#test_it"
  end

  def test_ci_runs_more
    all, usual = [true, false].map { |ci| Suites.lanes(ci: ci).flatten.map(&:task) }
    assert_equal Suites::ONLY_IN_CI.sort, (all - usual).sort
    assert_equal %w[lint test test:real], (usual & %w[lint test test:real]).sort
  end

  # As CI on a slow machine.
  def test_a_suite_does_not_begin_when_the_time_is_up
    status, output = run_suite("def test_a = flunk", environment: { "CUTTLE_UNTIL" => Time.now.to_i.to_s })
    assert_predicate status, :success?, output
    assert_equal "\n== summary\nLEFT OUT: flaky: the time is up\n" \
                 "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n", output
  end

  # The first test takes until then, if it begins at all.
  def test_no_test_begins_when_the_time_is_up
    deadline = Time.now.to_i + 2
    waiting = "def wait = (sleep(0.05) until Time.now.to_i > #{deadline})\ndef test_a = wait\ndef test_b = wait\n"
    status, output = run_suite(waiting, variables: { "CUTTLE_UNTIL" => deadline.to_s, "CUTTLE_PROCESSES" => "1" })
    assert_predicate status, :success?, output
    left_out = output[/^passed: flaky, .* minutes; (\d) TESTS WERE LEFT OUT: THE TIME IS UP$/, 1].to_i
    runs = output[/(\d) runs, 0 assertions, 0 failures, 0 errors, 0 skips\n\z/, 1].to_i
    assert_equal 2, left_out + runs, output
    assert_operator left_out, :>=, 1
  end

  private

  def result(output, passed: false)
    Suites::Result.new(Suites::Suite.new("suite", {}, "it"), passed, output, 1.0)
  end

  # The tests in +source+ as the one suite of a project, whose task has +variables+.
  def run_suite(source, variables: {}, environment: {})
    Dir.mktmpdir do |directory|
      File.write("#{directory}/flaky.rb", "require 'minitest/autorun'\nclass Flaky < Minitest::Test\n#{source}\nend\n")
      command = [RbConfig.ruby, "-I#{File.expand_path("..", __dir__)}", "-rrunner", "flaky.rb"]
      File.write("#{directory}/Rakefile", "task(:it) { sh(*#{command.inspect}, verbose: false) }")
      suites = File.expand_path("../../bin/support/suites", __dir__)
      Open3.capture2e(environment, RbConfig.ruby, "-r#{suites}", "-e", <<~RUBY, chdir: directory).reverse
        exit Suites.run([[Suites::Suite.new("flaky", #{variables}, "it")]])
      RUBY
    end
  end
end
