# frozen_string_literal: true

module Suites
  # What came of one run of a suite, read from minitest's output; of a suite without tests only whether it passed.
  class Result
    # Minitest's closing line.
    TALLY = /^(\d+) runs, (\d+) assertions, (\d+) failures, (\d+) errors, (\d+) skips/
    COUNTED = %w[runs assertions failures errors skips].freeze

    # What minitest says in the end of tests that failed.
    FAULTS = /^Finished in [^\n]*\n(.*?)^(?=\d+ runs, )/m

    # How each of those begins.
    NAMED = /\A\d+\) (?:Failure|Error):\n([^\n]+#\S+?)(?: \[[^\n]*\])?:\n([^\n]*)/

    # Lines of a fault that the summary repeats.
    LINES = 12

    # A process that dies can't say what it found, nor can a run that is interrupted: the tests that are named are not
    # the whole truth. (A test that takes too long has a name.) What a sanitizer or Ruby's crash report says of a server
    # is no matter of a busy machine.
    BROKEN = /^Runner::Pool::Broken:\ (?!the\ test\ hangs)|^Interrupted\.\ Exiting
             |ERROR:\ AddressSanitizer|runtime\ error:\ |WARNING:\ ThreadSanitizer|\[BUG\]/x

    # What Runner::Pool says where the time was up.
    LEFT_OUT = /^\d+ tests were left out: the time is up$/

    # The result of a suite that did not begin.
    def self.left_out(suite) = new(suite, true, "", nil)

    attr_reader :suite

    # The result of the second run of the tests that failed; nil where there was none.
    attr_accessor :second

    # +passed+: whether the run's process said so; +output+: all that it printed.
    def initialize(suite, passed, output, seconds)
      @suite = suite
      @passed = passed
      @output = output
      @seconds = seconds
    end

    def passed? = @passed || passed_again?

    # [runs, assertions, failures, errors, skips]; a test that passed in its second run has passed.
    def counts
      runs, assertions, failures, errors, skips = tally
      passed_again? ? [runs, assertions, 0, 0, skips] : [runs, assertions, failures, errors, skips]
    end

    # The beginning of each fault that minitest names.
    def faults
      @faults ||= @output.scan(FAULTS).flat_map { |(text)| text.split(/\n\n(?= +\d+\) (?:Failure|Error):)/) }
                         .map(&:strip).grep(/\A\d+\) (?:Failure|Error):/)
                         .map { |fault| fault.lines.first(LINES).join }
    end

    # The tests that failed, with the first line of the reason.
    def failed
      @failed ||= faults.filter_map { |fault| NAMED.match(fault)&.captures }.to_h
    end

    # Whether #failed is all that is wrong with this run.
    def complete?
      !@output.match?(BROKEN) && failed.size == tally[2] + tally[3]
    end

    # "passed: tests, 6.1 minutes"
    def verdict
      return "LEFT OUT: #{suite.name}: the time is up" unless @seconds

      [format("%s: %s, %.1f minutes", passed? ? "passed" : "FAILED", suite.name, @seconds / 60),
       *@output.scan(LEFT_OUT).map(&:upcase)].join("; ")
    end

    # What to say of each of #failed.
    def outcome = "#{suite.name}: #{passed_again? ? "passed in its second run only" : "failed"}"

    protected

    # Whether these tests ran and passed: one that skips has proved nothing. (Suites may share a name.)
    def proves?(tests)
      @passed && tally[0] >= tests.size && tally.values_at(2, 3, 4).all?(&:zero?)
    end

    private

    def passed_again? = !second.nil? && second.proves?(failed)

    # All zero where no test ran.
    def tally
      @output.scan(TALLY).map { |numbers| numbers.map(&:to_i) }.transpose.map(&:sum).then do |sums|
        sums.empty? ? [0] * COUNTED.size : sums
      end
    end
  end
end
