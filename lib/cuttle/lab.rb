# frozen_string_literal: true

module Cuttle
  # The lab finds the concurrency model that suits an app. It serves one unchanged app under every engine and under
  # other servers, starts a new server for each round, and writes each run to a file before the next one begins.
  #
  # Rule: a server is a process, and Cuttle's own server is a peer like any other. The lab uses Cuttle::Load as a
  # library and names no other room.
  module Lab
    # A lab can't be measured, read or written. The message is one line; the exit status is 1.
    class Failure < Error; end

    # Results: the file, its reader, and the analysis of its numbers.
    autoload :Results, "cuttle/lab/results"
    autoload :Analysis, "cuttle/lab/analysis"
    autoload :Statistics, "cuttle/lab/statistics"

    # Servers: starting, watching and stopping a peer, and the proof that its settings took effect.
    module Servers
      autoload :Backlog, "cuttle/lab/servers/proof"
      autoload :Bundled, "cuttle/lab/servers/bundled"
      autoload :GemDirectory, "cuttle/lab/servers/gem_directory"
      autoload :Installation, "cuttle/lab/servers/installation"
      autoload :Peers, "cuttle/lab/servers/peers"
      autoload :Ports, "cuttle/lab/servers/ports"
      autoload :ProcessTree, "cuttle/lab/servers/process_tree"
      autoload :Proof, "cuttle/lab/servers/proof"
      autoload :Proofs, "cuttle/lab/servers/proof"
      autoload :Server, "cuttle/lab/servers/server"
      autoload :Setup, "cuttle/lab/servers/setup"
      autoload :Silence, "cuttle/lab/servers/silence"
    end

    # The apps that servers serve. WorkApp has a short name because it loads without the rest of the lab.
    autoload :Apps, "cuttle/lab/apps"
    autoload :WorkApp, "cuttle/lab/apps/work_app"

    # The network between the load and a server.
    module Network
      autoload :Relay, "cuttle/lab/network/relay"
      autoload :Routes, "cuttle/lab/network/relay"
    end

    # The plan of a lab, and its execution.
    autoload :Options, "cuttle/lab/options"
    autoload :Plan, "cuttle/lab/plan"
    autoload :Testers, "cuttle/lab/testers"
    autoload :Runner, "cuttle/lab/runner"
    autoload :Machine, "cuttle/lab/machine"

    # Reports: text, JSON, HTML.
    autoload :Report, "cuttle/lab/report"

    # Runs a lab, or resumes one (options.resume). Returns the directory of its results. out: receives the progress.
    # plan: a Plan to use instead of one made from the options. further (trials, wanted, least): see Runner::Session.
    # Raises UsageError and Failure; finished runs stay in the file.
    def self.run(options, out: $stderr, plan: nil, **further)
      Runner::Session.new(options, out: out, plan: plan, **further).run
    end
  end
end
