# frozen_string_literal: true

module Cuttle
  # The load generator. Native threads send the requests (ext/cuttle_load); Ruby plans, collects and reports.
  #
  #   result = Cuttle::Load.run("http://127.0.0.1:9292/", rate: 1000, duration: 10)
  #   result.rate                  # => responses per second
  #   result.latency.value_at(99)  # => nanoseconds
  #
  # Times are seconds in options, and Integers of nanoseconds in histograms.
  module Load
    # What is asked for can't be done here, or the server can't be measured: one line, exit code 1.
    class Failure < Error; end

    autoload :Agent, "cuttle/load/agent"
    autoload :Agents, "cuttle/load/agents"
    autoload :Assertions, "cuttle/load/assertions"
    autoload :Comparison, "cuttle/load/comparison"
    autoload :Environment, "cuttle/load/environment"
    autoload :Generator, "cuttle/load/generator"
    autoload :Har, "cuttle/load/har"
    autoload :Histograms, "cuttle/load/histograms"
    autoload :Marks, "cuttle/load/marks"
    autoload :Mix, "cuttle/load/mix"
    autoload :Plan, "cuttle/load/plan"
    autoload :Reports, "cuttle/load/reports"
    autoload :Request, "cuttle/load/request"
    autoload :Result, "cuttle/load/result"
    autoload :Schedules, "cuttle/load/schedules"
    autoload :SelfTest, "cuttle/load/self_test"
    autoload :Statistics, "cuttle/load/statistics"
    autoload :Target, "cuttle/load/target"
    autoload :TestServers, "cuttle/load/test_servers"
    autoload :Units, "cuttle/load/units"
    autoload :Window, "cuttle/load/window"
    autoload :Wire, "cuttle/load/wire"

    # The native half.
    autoload :Histogram, "cuttle/load/core"
    autoload :Orphans, "cuttle/load/core"
    autoload :Parts, "cuttle/load/core"
    autoload :Run, "cuttle/load/core"
    autoload :TestServer, "cuttle/load/core"
    autoload :TLS_AVAILABLE, "cuttle/load/core"
    autoload :TLS_LIBRARY, "cuttle/load/core"

    # What a system call's error says, without the call and its arguments.
    def self.reason(error)
      error.class.new.message
    end

    # Loads +url+ and returns a Result. +options+ are Plan's. on_window is called with each Window, about a second after
    # it began; what it throws or raises ends the run. Raises UsageError (options) and Failure (the target).
    def self.run(url, on_window: nil, **options)
      Generator.new(Plan.build(url, **options)).run(on_window: on_window)
    end
  end
end
