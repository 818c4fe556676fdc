# frozen_string_literal: true

module Runner
  # The cost of tests, in seconds of the clock and of processor time: CUTTLE_SLOWEST=40 prints the 40 tests that take
  # longest, and the 40 suites that use most processor time.
  class Costs
    COUNT = Integer(ENV.fetch("CUTTLE_SLOWEST", 0))

    def initialize
      @tests = {}
      @suites = Hash.new(0)
    end

    def note(suite, result)
      cpu = result.metadata.values_at(:cpu, :elsewhere).sum
      @tests["#{suite}##{result.name}"] = [result.time, cpu]
      @suites[suite] += cpu
    end

    # Resources that tests of +suite+ share, mainly its servers.
    def note_shared(suite, cpu)
      @suites[suite] += cpu
    end

    def to_a
      tests = @tests.max_by(COUNT) { |_, (time, _)| time }
      suites = @suites.max_by(COUNT, &:last)
      [*tests.map { |name, times| format("%7.2f s, %6.2f s of processor time  %s", *times, name) },
       *suites.map { |suite, cpu| format("%7.2f s of processor time  %s", cpu, suite) }]
    end
  end
end
