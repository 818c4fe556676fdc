# frozen_string_literal: true

# The common part of the scripts in benchmark/; see benchmark/README.md. A benchmark is a plan for the lab, which runs
# it, keeps its results and watches the machine. This file has the parts that only benchmarks need.

require "fileutils"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "shellwords"
require "tempfile"

$LOAD_PATH.unshift File.expand_path("../../lib", __dir__)
require "cuttle"

module Bench
  Lab = Cuttle::Lab
  Peers = Lab::Servers::Peers

  ROOT = File.expand_path("../..", __dir__)
  # Everything that the benchmarks create: programs, logs, results.
  TMP = File.join(ROOT, "tmp/benchmark")
  RESULTS = File.join(TMP, "results")
  LOGS = File.join(TMP, "logs")

  # Path of one of the apps in benchmark/apps.
  def self.app(name)
    File.join(ROOT, "benchmark/apps/#{name}.ru")
  end

  # Runs a benchmark script: the block fills in the plan (it also gets the Options), the lab runs the plan as the
  # command line specifies, and the report is printed. own: a Proc that adds the script's own options to the
  # OptionParser.
  def self.run(name, title, columns:, rounds: 5, seconds: 3, own: nil)
    options = Options.new(ARGV, name: name, rounds: rounds, seconds: seconds, own: own)
    plan = Plan.new(name, title, columns)
    yield plan, options
    return puts(plan.names, "", plan.goals) if options.list?

    make_ready
    directory = Lab.run(plan.options(options), out: $stdout, plan: plan.lab(options), trials: plan.trials)
    puts "", Report.new(Lab::Results.read(directory)).text
  rescue Cuttle::Error => error
    abort "benchmark/#{name}: #{error.message}"
  end

  # How many times the CPU time of the canned responder a request may take for which the app does nothing, on this Ruby.
  def self.most_of_canned(version = RUBY_VERSION, yjit: Lab::Machine.yjit?)
    yjit && version.to_i >= 4 ? 1.2 : 1.35
  end

  # Lets bin/cuttle install gems and compile if that is necessary.
  def self.make_ready
    FileUtils.mkdir_p(LOGS)
    log = "#{LOGS}/setup.log"
    done = system(Lab::Servers::Server::CLEAN, "#{ROOT}/bin/cuttle", "--version", out: log, err: %i[child out])
    done or raise Lab::Failure, "bin/cuttle could not make itself ready (see #{log})"
  end

  # One core for the server, and one for the load: without given ones, the first two that this process may use.
  def self.cores(server: nil, load: nil, allowed: Lab::Machine::Cores.allowed)
    server ||= (allowed - [load]).first
    load ||= (allowed - [server]).first || server
    Lab::Machine::Cores.new(server: [server], load: [load], allowed: allowed)
  end

  # Yields a server on these cores, for measurements without a plan. settings: those of Servers::Setup. Raises Failure.
  def self.serve(peer, cores, **settings)
    server = Lab::Servers::Server.start(peer, setup(peer, cores, **settings))
    yield server
  ensure
    server&.stop
  end

  # A Servers::Setup; its log is kept in LOGS.
  def self.setup(peer, cores, **settings)
    FileUtils.mkdir_p(LOGS)
    numbers = { model: peer.models.first, workers: peer.workers.begin, threads: 1, keep_alive: peer.keeps_alive.first,
                backlog: Lab::Plan::Configurations::BACKLOG }
    Lab::Servers::Setup.new(**numbers, port: Lab::Servers::Ports.free, cores: cores, env: {},
                                       log: "#{LOGS}/#{peer.name}.log", **settings)
  end

  # Compiles a C program of the benchmarks into tmp/ if its source is newer. Returns the program's path.
  def self.compile(source)
    program = File.join(TMP, File.basename(source, ".c"))
    return program if File.exist?(program) && File.mtime(program) > File.mtime(source)

    FileUtils.mkdir_p(TMP)
    made = "#{program}.#{Process.pid}" # several processes may compile it at once
    done = system("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-o", made, source)
    raise Lab::Failure, "gcc could not compile #{source}" unless done

    File.rename(made, program)
    program
  end
end

%w[options plan results columns report picture document work slow_clients slow_http_test probes beside idleness request
   sockets hostility overload ../servers/canned ../servers/nginx ../servers/checkout
   ../servers/secured].each { |file| require_relative file }
