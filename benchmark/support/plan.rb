# frozen_string_literal: true

module Bench
  # The plan of a benchmark, declared like a study's: subjects (each its own server under one load), the columns of its
  # table, and the figures to reach.
  class Plan
    WARM_UP = 2 # seconds; half are enough if the rate is steady
    SPARE = 1_000 # descriptors of a server that are not connections
    TIMEOUT = 30 # seconds; wrk drops slower responses, so it is far above the time that any server should need

    # app: as in Lab::Options. environment: for every server. connections: their number, if it is large. whole: whether
    # the server may use every core, one of them shared with the load. warm_up: the most seconds. name, title: those of
    # #initialize, which a script with several tables makes longer.
    attr_accessor :app, :environment, :connections, :whole, :warm_up, :name, :title
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
    # the size of a right response's body, nil for any. requests: their number in place of a time. trial: a Trial, in
    # place of the lab's own. keep_alive: whether connections persist, here and at servers that have that choice.
    def load(connections:, tester: "wrk", rate: nil, path: nil, octets: 13, requests: nil, trial: nil, keep_alive: true)
      name = ["#{connections} connections", ("that close" unless keep_alive), path, ("#{rate}/s" if rate),
              ("#{requests} requests" if requests), tester, trial&.name].compact.join(" ")
      @trials[name] = trial if trial
      { "name" => name, "loop" => rate ? "open" : "closed", "connections" => connections, "rate" => rate,
        "keep_alive" => keep_alive, "path" => path, "octets" => octets, "requests" => requests, "tester" => tester,
        "trial" => (name if trial) }
    end

    # A subject that runs Cuttle. base: the name of the subject that it is compared with and that runs next to it.
    # flags: those of `cuttle serve`. workers: ractors, for that engine.
    def serve(name, load, engine: "hybrid", workers: 0, threads: 1, flags: nil, base: nil, env: {})
      add(name, load, base, env, "server" => "cuttle", "model" => engine, "workers" => workers, "threads" => threads,
                                 "keep_alive" => load["keep_alive"], "flags" => flags)
    end

    # A subject that runs another server, with its own defaults: one process unless workers is given. Without a pool,
    # threads has no effect.
    def other(server, load, name: server, model: nil, workers: nil, threads: 1, base: nil, env: {})
      peer = Peers.find(server)
      numbers = { "server" => server, "model" => model || peer.models.first, "workers" => workers || peer.workers.begin,
                  "keep_alive" => habit(peer, load) }
      possible = [threads, 1, 0].find do |count|
        !peer.supports?(Lab::Plan::Configurations.setup(numbers.merge("threads" => count)))
      end
      add(name, load, base, env, **numbers, "threads" => possible || threads)
    end

    # A figure to reach: figure (a name of Results) of a subject, divided by another subject's in the same round if +by+
    # is a name, or by a number. The bound is at_least or at_most. shown: the whole 95% interval of the ratios to
    # another subject must be within the bound. With several subjects and several others, the worst ratio counts.
    def figure(text, figure, of:, by: nil, at_least: nil, at_most: nil, shown: false)
      @figures << { "text" => text, "figure" => figure.to_s, "of" => of, "by" => by, "shown" => shown,
                    "sense" => at_least ? "at_least" : "at_most", "bound" => at_least || at_most }
    end

    def names
      @pairs.map { |configuration, _| configuration["name"] }
    end

    # The figures to reach, as #figure got them. Raises ArgumentError if one names a subject that the plan doesn't have:
    # a report would only say that it was not measured.
    def figures
      unknown = @figures.flat_map { |figure| figure.values_at("of", "by") }.flatten.grep(String) - names
      unknown.empty? ? @figures : raise(ArgumentError, "no subject is called #{unknown.first}")
    end

    # Each figure with its bound, in words.
    def goals
      figures.map { |figure| "#{figure["text"]}: #{Report.bound(figure)}" }
    end

    # The lab's plan for the wanted subjects.
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

    # Whether a server keeps connections open: as the load does, if the server can.
    def habit(peer, load)
      peer.keeps_alive.include?(load["keep_alive"]) ? load["keep_alive"] : peer.keeps_alive.first
    end

    def add(name, load, base, env, **configuration)
      configuration = { "name" => name, **configuration, "base" => base, "environment" => environment.merge(env) }
      @pairs << [configuration, load]
    end

    # What the report needs in addition to the lab's results.
    def note
      { "name" => @name, "title" => @title, "columns" => @columns, "figures" => figures,
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
