# frozen_string_literal: true

module Bench
  # What a benchmark measures, declared as a study's is: subjects (a server of its own under one load each), the columns
  # that tell of them, and the figures to reach.
  class Plan
    WARM_UP = 2 # seconds; half of them are enough where the rate is steady
    SPARE = 1_000 # descriptors of a server beside those of connections
    TIMEOUT = 30 # seconds; wrk drops what takes longer, so it is far above what any sane server needs

    # app: of Lab::Options. environment: of every server. connections: how many there will be, where they are many.
    # whole: whether the server may use every core, and so shares one with the load. warm_up: seconds at most.
    attr_accessor :app, :environment, :connections, :whole, :warm_up
    attr_reader :trials

    # columns: names of Columns.
    def initialize(name, title, columns)
      @name = name
      @title = title
      @columns = columns
      @warm_up = WARM_UP
      @environment = {}
      @pairs = []
      @figures = []
      @trials = {}
    end

    # A load for subjects. tester: "wrk", or nil for `cuttle load`. rate: requests per second of an open loop. octets:
    # of a right response's body, nil for any. requests: a number of them instead of a time. trial: a Trial, where the
    # lab's own is not meant.
    def load(connections:, tester: "wrk", rate: nil, path: nil, octets: 13, requests: nil, trial: nil)
      name = ["#{connections} connections", path, ("#{rate}/s" if rate), ("#{requests} requests" if requests), tester,
              trial&.name].compact.join(" ")
      @trials[name] = trial if trial
      { "name" => name, "loop" => rate ? "open" : "closed", "connections" => connections, "rate" => rate,
        "keep_alive" => true, "path" => path, "octets" => octets, "requests" => requests, "tester" => tester,
        "trial" => (name if trial) }
    end

    # Cuttle. base: the name of the subject that it is compared with, and runs next to. flags: of `cuttle serve`.
    # workers: ractors, with that engine.
    def serve(name, load, engine: "hybrid", workers: 0, threads: 1, flags: nil, base: nil, env: {})
      add(name, load, base, env, "server" => "cuttle", "model" => engine, "workers" => workers, "threads" => threads,
                                 "keep_alive" => true, "flags" => flags)
    end

    # Another server, with its own habits: one process, unless workers says more; where it has no pool, threads count
    # for nothing.
    def other(server, load, name: server, model: nil, workers: nil, threads: 1, base: nil, env: {})
      peer = Peers.find(server)
      numbers = { "server" => server, "model" => model || peer.models.first, "workers" => workers || peer.workers.begin,
                  "keep_alive" => peer.keeps_alive.first }
      possible = [threads, 1, 0].find do |count|
        !peer.supports?(Lab::Plan::Configurations.setup(numbers.merge("threads" => count)))
      end
      add(name, load, base, env, **numbers, "threads" => possible || threads)
    end

    # A figure to reach: figure (a name of Results) of a subject; by another's in the same round, where by names one, or
    # by a number. The least or the most that it may be is the bound. shown: for the whole 95% interval. Of many
    # subjects by many others, the worst counts.
    def figure(text, figure, of:, by: nil, at_least: nil, at_most: nil, shown: false)
      @figures << { "text" => text, "figure" => figure.to_s, "of" => of, "by" => by, "shown" => shown,
                    "sense" => at_least ? "at_least" : "at_most", "bound" => at_least || at_most }
    end

    def names
      @pairs.map { |configuration, _| configuration["name"] }
    end

    # The lab's plan, of the subjects that are wanted.
    def lab(options)
      Cuttle::Load::Plan::Checks.allow_files(connections + SPARE) if connections
      wanted = @pairs.select { |configuration, _| options.wants?(configuration["name"]) }
      Lab::Plan::Declared.new(wanted).plan(seed: options.seed, rounds: options.rounds, duration: options.seconds,
                                           warmup: warm_up)
    end

    # The lab's options.
    def options(options)
      cores = options.cores
      server = whole ? Lab::Machine::Cores.allowed : cores.server
      Lab::Options.new(app: app, seed: options.seed, rounds: options.rounds, duration: options.seconds, warmup: warm_up,
                       timeout: TIMEOUT, patience: options.patience, cpus: { server: server, load: cores.load },
                       directory: File.join(RESULTS, @name), command: options.command,
                       notes: { Report::NOTE => note })
    end

    private

    def add(name, load, base, env, **configuration)
      configuration = { "name" => name, **configuration, "base" => base, "environment" => environment.merge(env) }
      @pairs << [configuration, load]
    end

    # What the report needs beside the lab's results.
    def note
      { "name" => @name, "title" => @title, "columns" => @columns, "figures" => @figures,
        "commit" => version("git", "-C", ROOT, "describe", "--always", "--dirty=+"),
        "wrk" => version("wrk", "-v")&.slice(/\d+\.\d+\.\d+/), "gcc" => version("gcc", "--version") }
    end

    # The first line that a program prints.
    def version(*command)
      Open3.capture2e(*command).first.lines.first&.strip
    rescue SystemCallError
      nil
    end
  end
end
