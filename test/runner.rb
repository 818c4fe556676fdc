# frozen_string_literal: true

require "minitest"
require_relative "runner/pool"

# Runs minitest's tests in several processes at once, because most of them wait: `ruby -Itest -Ilib -rrunner FILE...`.
# Rake's tasks and bin/test use it; without -rrunner the same files run one test after the other in one process, which
# suits a debugger. Minitest keeps its options, its reporters and its exit code.
#
# CUTTLE_PROCESSES is the number of tests that run at once (default: three per core, and more while cores idle; see
# Crew). A test whose core is also used by two others must only be late: tests have deadlines for operations that hang,
# and assert nothing else about time.
# CUTTLE_ONLY runs just some of them: "TestThis#test_it", one a line. CUTTLE_UNTIL, in seconds since 1970, is when no
# further test begins; how many were left out is printed.
module Runner
  # Nil: all. Tests that run tests ignore it, and UNTIL.
  ONLY = ENV.delete("CUTTLE_ONLY")&.lines(chomp: true)

  # When no further test begins; nil: never.
  UNTIL = ENV.delete("CUTTLE_UNTIL")&.then { |seconds| Time.at(Integer(seconds)) }

  # Calls Minitest's own methods up to where a test would run, and determines itself which tests were requested.
  module Collecting
    def run_one_method(suite, name, reporter)
      reporter.is_a?(Queue) ? reporter.add(suite, name) : super
    end
  end

  # Replaces Minitest.__run, and runs tests in each process.
  module Processes
    def __run(reporter, options)
      queue = Queue.new(Timings.load)
      Minitest::Runnable.runnables.shuffle.each { |suite| suite.run(queue, options) }
      queue.keep(ONLY) if ONLY
      4.times { GC.start } # makes loaded objects old, so that no process marks them in each of its collections
      Pool.new(queue, reporter, deadline: UNTIL).run
    end
  end

  Minitest::Runnable.singleton_class.prepend(Collecting)
  Minitest.singleton_class.prepend(Processes)
end
