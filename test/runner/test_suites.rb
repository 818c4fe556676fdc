# frozen_string_literal: true

require "test_helper"
require_relative "../../bin/support/suites"

# What bin/test repeats of the output of its suites.
class TestSuites < Minitest::Test
  # As minitest writes it.
  OUTPUT = <<~TEXT
    Finished in 0.04s, 49.5 runs/s, 24.7 assertions/s.

      1) Failure:
    TestFails#test_b [test/test_fails.rb:4]:
    Expected: 1
      Actual: 2

      2) Error:
    TestFails#test_a:
    RuntimeError: oops

    a second paragraph
    %s
    2 runs, 1 assertions, 1 failures, 1 errors, 0 skips
  TEXT

  def test_every_fault_of_every_run
    first = format(OUTPUT, "")
    passed = "Finished in 1s, 1 runs/s.\n\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n"
    faults = Suites.faults("# Running:\n\n.F\n#{first}#{passed}#{first}")
    assert_equal 4, faults.length
    assert_equal "1) Failure:\nTestFails#test_b [test/test_fails.rb:4]:\nExpected: 1\n  Actual: 2", faults[0]
    assert_match(/\A2\) Error:\nTestFails#test_a:\nRuntimeError: oops\n\na second paragraph\z/, faults[1])
  end

  def test_only_the_beginning_of_a_long_one
    fault = Suites.faults(format(OUTPUT, "    from here\n" * 100)).last
    assert_equal Suites::LINES, fault.lines.length
    assert_match(/\A2\) Error:\n/, fault)
  end
end
