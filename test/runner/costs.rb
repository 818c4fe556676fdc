# frozen_string_literal: true

module Runner
  # The cost of tests, in seconds of the clock and of processor time: CUTTLE_SLOWEST=40 prints the 40 tests that take
  # longest, and what uses most processor time: 40 tests, 40 suites, and 40 names of tests that several suites have
  # (those of contracts), with the sum of all.
  class Costs
    COUNT = Integer(ENV.fetch("CUTTLE_SLOWEST", 0))

    def initialize
      @tests = {}
      @suites = Hash.new(0)
      @names = Hash.new { |names, name| names[name] = [] }
    end

    def note(suite, result)
      cpu = result.metadata.values_at(:cpu, :elsewhere).sum
      @tests["#{suite}##{result.name}"] = [result.time, cpu]
      @suites[suite] += cpu
      @names[result.name] << cpu
    end

    # Resources that tests of +suite+ share, mainly its servers.
    def note_shared(suite, cpu)
      @suites[suite] += cpu
    end

    def to_a
      return [] if COUNT.zero?

      [*tests("longest", &:first), *tests("most processor time", &:last), "", "Suites:", *suites,
       "", "Tests of several suites:", *names]
    end

    private

    def tests(what, &value)
      found = @tests.max_by(COUNT) { |_, times| value.call(times) }
      lines = found.map { |name, times| format("%7.2f s, %6.2f s of processor time  %s", *times, name) }
      ["", "Tests, #{what}:", *lines]
    end

    def suites = @suites.max_by(COUNT, &:last).map { |suite, cpu| line(cpu, suite) }

    def names
      shared = @names.select { |_, cpu| cpu.length > 1 }.transform_values { |cpu| [cpu.sum, cpu.length] }
      shared.max_by(COUNT) { |_, (sum, _)| sum }.map { |name, (sum, count)| line(sum, "#{name}, #{count} times") }
    end

    def line(cpu, text) = format("%7.2f s of processor time  %s", cpu, text)
  end
end
