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
    # The machine can't satisfy the options, or the server can't be measured: one line, exit status 1.
    class Failure < Error; end

    autoload :Agent, "cuttle/load/agent"
    autoload :Agents, "cuttle/load/agents"
    autoload :Assertions, "cuttle/load/assertions"
    autoload :Changes, "cuttle/load/changes"
    autoload :Environment, "cuttle/load/environment"
    autoload :Generator, "cuttle/load/generator"
    autoload :Har, "cuttle/load/har"
    autoload :Histograms, "cuttle/load/histograms"
    autoload :Marks, "cuttle/load/marks"
    autoload :Mix, "cuttle/load/mix"
    autoload :Pattern, "cuttle/load/pattern"
    autoload :Plan, "cuttle/load/plan"
    autoload :Request, "cuttle/load/request"
    autoload :Result, "cuttle/load/result"
    autoload :Schedules, "cuttle/load/schedules"
    autoload :Script, "cuttle/load/script"
    autoload :SelfTest, "cuttle/load/self_test"
    autoload :Sessions, "cuttle/load/sessions"
    autoload :Statistics, "cuttle/load/statistics"
    autoload :Target, "cuttle/load/target"
    autoload :TestServers, "cuttle/load/test_servers"
    autoload :Units, "cuttle/load/units"
    autoload :Window, "cuttle/load/window"
    autoload :Wire, "cuttle/load/wire"

    # The formats of a Result. A report is a module with render(result) → String.
    module Reports
      autoload :Ab, "cuttle/load/reports/ab"
      autoload :Changes, "cuttle/load/reports/changes"
      autoload :Csv, "cuttle/load/reports/csv"
      autoload :Hgrm, "cuttle/load/reports/hgrm"
      autoload :Html, "cuttle/load/reports/html"
      autoload :Json, "cuttle/load/reports/json"
      autoload :Panel, "cuttle/load/reports/panel"
      autoload :Prometheus, "cuttle/load/reports/prometheus"
      autoload :Text, "cuttle/load/reports/text"
    end

    # The native part.
    autoload :Histogram, "cuttle/load/core"
    autoload :Orphans, "cuttle/load/core"
    autoload :Parts, "cuttle/load/core"
    autoload :Run, "cuttle/load/core"
    autoload :TestServer, "cuttle/load/core"
    autoload :TLS_AVAILABLE, "cuttle/load/core"
    autoload :TLS_LIBRARY, "cuttle/load/core"

    # The message of a system call's error, without the name and arguments of the call.
    def self.reason(error)
      error.class.new.message
    end

    # Loads +url+ and returns a Result. +options+ are those of Plan. on_window: called with each Window, about one
    # second after the Window began. If it throws or raises, the run ends. Raises UsageError (options) and Failure (the
    # target).
    def self.run(url, on_window: nil, **options)
      Generator.new(Plan.build(url, **options)).run(on_window: on_window)
    end
  end
end
