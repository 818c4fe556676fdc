# frozen_string_literal: true

module Runner
  # With CUTTLE_SECOND_RUN=1, which bin/test sets, a test that failed runs once more when all others are done, alone. A
  # machine that is busy with other things must not stop a change that is right; nor may anybody overlook a race, so
  # what passes only then is named in the end, and in bin/test's summary. Of more than a few none gets a second run:
  # something is broken.
  class SecondRuns
    WANTED = ENV["CUTTLE_SECOND_RUN"] == "1"
    MOST = 5

    # How a line begins that names such a test; bin/support/suites.rb looks for it.
    NAMED = "passed in its second run only: "

    def initialize(reporter)
      @reporter = reporter
      @failed = {}
      @begun = false
      @passed = []
    end

    # Whether it keeps +result+ for a second run, so that nobody counts it yet.
    def keep?(suite, result)
      test = [suite, result.name]
      @passed << @failed[test] if @begun && result.passed?
      return false if @begun || !WANTED || result.passed? || result.skipped? || !suite.method_defined?(result.name)

      @failed[test] = result
      true
    end

    # Calls the block for each test that is to run again.
    def each(&block)
      @begun = true
      return @failed.each_value { |result| @reporter.record(result) } if @failed.size > MOST

      @failed.each_key(&block)
    end

    def to_a
      @passed.map { |result| "#{NAMED}#{result.klass}##{result.name}: #{result.failure.message.lines.first&.chomp}" }
    end
  end
end
