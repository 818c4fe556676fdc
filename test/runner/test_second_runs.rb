# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "tmpdir"

# What bin/test does with a test that failed.
class TestSecondRuns < Minitest::Test
  FLAKY = <<~RUBY
    require "minitest/autorun"
    class Flaky < Minitest::Test
      def test_fails_once
        missing = !File.exist?(MARK)
        File.write(MARK, "")
        refute missing, "too early"
      end

      def test_passes = assert(true)
    end
  RUBY

  BROKEN = <<~RUBY
    require "minitest/autorun"
    class Broken < Minitest::Test
      (COUNT + 1).times { |number| define_method("test_\#{number}") { flunk } if number.positive? }
    end
  RUBY

  def test_a_test_that_passes_alone_has_passed_and_is_named
    status, output = run_suite(FLAKY)
    assert_predicate status, :success?, output
    assert_includes output, "passed in its second run only: Flaky#test_fails_once: too early\n"
    assert_includes output, "2 runs, 2 assertions, 0 failures"
  end

  def test_without_the_variable_each_runs_once
    status, output = run_suite(FLAKY, second: nil)
    refute_predicate status, :success?
    assert_includes output, "2 runs, 2 assertions, 1 failures"
  end

  def test_what_fails_twice_has_failed
    status, output = run_suite(BROKEN.sub("COUNT", "2"))
    refute_predicate status, :success?
    assert_includes output, "2 runs, 2 assertions, 2 failures"
    assert_equal 4, output.scan(/^Failure:/).length, output
  end

  def test_more_than_a_few_have_no_second_run
    status, output = run_suite(BROKEN.sub("COUNT", "6"))
    refute_predicate status, :success?
    assert_includes output, "6 runs, 6 assertions, 6 failures"
    assert_equal 6, output.scan(/^Failure:/).length, output
  end

  private

  def run_suite(source, second: "1")
    Dir.mktmpdir do |directory|
      File.write(file = "#{directory}/test_it.rb", "MARK = #{"#{directory}/mark".inspect}\n#{source}")
      output, status = Open3.capture2e({ "CUTTLE_SECOND_RUN" => second }, RbConfig.ruby,
                                       "-I#{File.expand_path("..", __dir__)}", "-rrunner", file)
      [status, output]
    end
  end
end
