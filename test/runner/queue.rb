# frozen_string_literal: true

require_relative "crew"
require_relative "timings"

module Runner
  # The tests that have not begun, by suite. A process stays with a suite, because it has the suite's servers. A new
  # process starts with the suite that takes longest. It shares a suite with others if that would end too late
  # otherwise, mostly at the end. A suite whose tests have an order keeps it, in one process.
  class Queue
    # Starting with a suite takes a process, and often a server: it is not worthwhile if fewer seconds of tests are
    # left.
    WORTH_SHARING = 3

    # Tests that take longer come first in their suite, the longest before all others, so that none of them is the last.
    LONG = 2

    attr_reader :timings

    def initialize(timings)
      @timings = timings
      @left = Hash.new { |left, suite| left[suite] = [] }
      @seconds = {}
      @shares = Hash.new(0)
      @rooms = {}
    end

    def add(suite, name)
      @left[suite] << name
      @rooms[suite] ||= File.dirname(suite.instance_method(name).source_location.first)
    end

    # Drops all tests but those of these names, "TestThis#test_it"; suites may share one. Raises ArgumentError if there
    # is no such test.
    def keep(names)
      left = @left.to_h { |suite, tests| [suite, tests.group_by { |test| "#{suite.name}##{test}" }.slice(*names)] }
      missing = names - left.values.flat_map(&:keys)
      raise ArgumentError, "no such test: #{missing.join(", ")}" if missing.any?

      @left.select! { |suite, tests| tests.replace(left[suite].values.flatten).any? }
    end

    # A suite for a new process, or nil.
    def suite
      @order ||= sort
      take(@left.keys)
    end

    # A suite for a process that has finished +suite+, from the same directory, because such suites often use the same
    # resources; or nil.
    def next_suite(suite)
      other = take(@left.keys.select { |each| @rooms[each] == @rooms[suite] && @shares[each].zero? })
      leave(suite) if other
      other
    end

    # The next test of +suite+, or nil.
    def test(suite)
      name = @left[suite].shift if @left.key?(suite)
      @seconds[suite] -= @timings.of(suite, name) if name
      @left.delete(suite) if @left.key?(suite) && @left[suite].empty?
      name
    end

    # Drops all tests. Returns how many.
    def clear
      @left.sum { |_, tests| tests.length }.tap { @left.clear }
    end

    # A process has finished +suite+.
    def leave(suite)
      @shares[suite] -= 1
    end

    # Minitest calls this on a reporter while it collects tests.
    def passed? = true

    private

    def sort
      @left.each do |suite, names|
        @seconds[suite] = names.sum { |name| @timings.of(suite, name) }
        names.sort_by! { |name| -[@timings.of(suite, name), LONG].max } unless ordered?(suite)
      end
    end

    def ordered?(suite) = suite.test_order == :alpha

    def take(suites)
      suite = suites.max_by { |each| worth(each) }
      return if suite.nil? || worth(suite).zero?

      @shares[suite] += 1
      suite
    end

    # Seconds of a suite that an additional process would take over; 0 if it is not worthwhile.
    def worth(suite)
      seconds = @seconds[suite]
      return seconds if @shares[suite].zero?

      ordered?(suite) || seconds < [WORTH_SHARING, late].max ? 0 : seconds / (@shares[suite] + 1)
    end

    # A suite that takes longer ends late: half the seconds that are left for each process.
    def late = @seconds.values_at(*@left.keys).sum / Crew::LEAST / 2
  end
end
