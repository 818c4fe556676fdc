# frozen_string_literal: true

module Cuttle
  # The measuring lab: which concurrency model is right for an app. One app, unchanged, under every engine and under
  # other servers, a fresh server for every run, and what was measured in a file that nothing is ever lost from.
  #
  # Its law: a server is a process, ours is one more peer. The lab knows Cuttle::Load as a library, and no other room.
  module Lab
    # What can't be measured, read or written here: one line, exit code 1.
    class Failure < Error; end

    # What was measured: the file, its reader, and what follows from it.
    autoload :Results, "cuttle/lab/results"
    autoload :Analysis, "cuttle/lab/analysis"
    autoload :Statistics, "cuttle/lab/statistics"

    # Servers: how each is started, watched and stopped, and the proof that it is what was asked for.
    module Servers
      autoload :Backlog, "cuttle/lab/servers/proof"
      autoload :Bundled, "cuttle/lab/servers/bundled"
      autoload :GemDirectory, "cuttle/lab/servers/gem_directory"
      autoload :Peers, "cuttle/lab/servers/peers"
      autoload :ProcessTree, "cuttle/lab/servers/process_tree"
      autoload :Proof, "cuttle/lab/servers/proof"
      autoload :Proofs, "cuttle/lab/servers/proof"
      autoload :Server, "cuttle/lab/servers/server"
      autoload :Setup, "cuttle/lab/servers/setup"
    end

    # What they serve, and what that needs.
    autoload :Apps, "cuttle/lab/apps"
    autoload :WorkApp, "cuttle/lab/apps/work_app"

    # What lies between the load and a server.
    module Network
      autoload :Relay, "cuttle/lab/network/relay"
      autoload :Routes, "cuttle/lab/network/relay"
    end

    # Carrying it out.
    autoload :Options, "cuttle/lab/options"
    autoload :Plan, "cuttle/lab/plan"
    autoload :Testers, "cuttle/lab/testers"
    autoload :Runner, "cuttle/lab/runner"
    autoload :Machine, "cuttle/lab/machine"

    # Telling of it.
    autoload :Report, "cuttle/lab/report"

    # Runs a lab, or goes on with one (options.resume), and returns the directory of its results. +out+ is told how it
    # goes. plan: a Plan of one's own, instead of what the options ask for. Raises UsageError and Failure; what was
    # measured until then is kept.
    def self.run(options, out: $stderr, plan: nil)
      Runner::Session.new(options, out: out, plan: plan).run
    end
  end
end
