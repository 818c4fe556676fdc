# frozen_string_literal: true

require "minitest"
require_relative "runner/pool"

# Runs minitest's tests in several processes at once, for most of them wait: `ruby -Itest -Ilib -rrunner FILE...`.
# Rake's tasks and bin/test do that; without -rrunner the same files run one test after the other in one process, for a
# debugger. Minitest keeps its options, its reporters and its exit code.
#
# CUTTLE_PROCESSES says how many tests run at once (three for each core). Where one finds its core taken by two others,
# it must only be late for it: tests have deadlines for what hangs, and assert nothing about time beside.
# CUTTLE_ONLY runs just some of them: "TestThis#test_it", one a line.
module Runner
  # Nil: all. Tests may run tests, which this is not for.
  ONLY = ENV.delete("CUTTLE_ONLY")&.lines(chomp: true)

  # Calls Minitest's own methods up to where a test would run; which tests were asked for, it finds out itself.
  module Collecting
    def run_one_method(suite, name, reporter)
      reporter.is_a?(Queue) ? reporter.add(suite, name) : super
    end
  end

  # Takes the place of Minitest.__run, and calls what runs a test in each process.
  module Processes
    def __run(reporter, options)
      queue = Queue.new(Timings.load)
      Minitest::Runnable.runnables.shuffle.each { |suite| suite.run(queue, options) }
      queue.keep(ONLY) if ONLY
      4.times { GC.start } # what is loaded is old then, and no process marks it again at each of its collections
      Pool.new(queue, reporter).run
    end
  end

  Minitest::Runnable.singleton_class.prepend(Collecting)
  Minitest.singleton_class.prepend(Processes)
end
