# frozen_string_literal: true

module Cuttle
  # The measuring lab: finds which concurrency model suits an app. It runs one app, unchanged, under every engine and
  # under other servers, with a new server for every run. It never loses a result: each is written to a file.
  #
  # Its rule: a server is a process, and ours is one more peer. The lab uses Cuttle::Load as a library, and no other
  # room.
  module Lab
    # Something can't be measured, read or written here: one line, exit status 1.
    class Failure < Error; end

    # Results: the file, its reader, and the analysis.
    autoload :Store, "cuttle/lab/store"
    autoload :Results, "cuttle/lab/results"
    autoload :Record, "cuttle/lab/record"
    autoload :Run, "cuttle/lab/run"
    autoload :Analysis, "cuttle/lab/analysis"
    autoload :Statistics, "cuttle/lab/statistics"
    autoload :Verdict, "cuttle/lab/verdict"
    autoload :Changes, "cuttle/lab/changes"

    # Servers: how to start each of them, and the proof that its settings took effect.
    autoload :Peers, "cuttle/lab/peers"
    autoload :Setup, "cuttle/lab/setup"
    autoload :Server, "cuttle/lab/server"
    autoload :ProcessTree, "cuttle/lab/process_tree"
    autoload :Proof, "cuttle/lab/proof"
    autoload :Backlog, "cuttle/lab/backlog"

    # The apps, and what they need.
    autoload :WorkApp, "cuttle/lab/work_app"
    autoload :Services, "cuttle/lab/services"
    autoload :Relay, "cuttle/lab/relay"
    autoload :Networks, "cuttle/lab/networks"
    autoload :Apps, "cuttle/lab/apps"

    # Running the lab.
    autoload :Options, "cuttle/lab/options"
    autoload :Plan, "cuttle/lab/plan"
    autoload :Cell, "cuttle/lab/cell"
    autoload :Meter, "cuttle/lab/meter"
    autoload :WarmUp, "cuttle/lab/warm_up"
    autoload :Testers, "cuttle/lab/testers"
    autoload :Session, "cuttle/lab/session"
    autoload :TimeLimit, "cuttle/lab/time_limit"
    autoload :Stage, "cuttle/lab/stage"
    autoload :Interruption, "cuttle/lab/interruption"
    autoload :Budget, "cuttle/lab/budget"
    autoload :Runner, "cuttle/lab/runner"
    autoload :Progress, "cuttle/lab/progress"
    autoload :Machine, "cuttle/lab/machine"
    autoload :CoreSpeed, "cuttle/lab/core_speed"
    autoload :Cores, "cuttle/lab/cores"
    autoload :Warnings, "cuttle/lab/warnings"
    autoload :Fairness, "cuttle/lab/fairness"
    autoload :Lock, "cuttle/lab/lock"

    # Reporting.
    autoload :Report, "cuttle/lab/report"

    # Runs a lab, or resumes one (options.resume), and returns the directory of its results. Progress goes to +out+.
    # +plan+ is a Plan that replaces the one made from the options. Raises UsageError and Failure; results measured
    # before that are kept.
    def self.run(options, out: $stderr, plan: nil)
      Session.new(options, out: out, plan: plan).run
    end
  end
end
