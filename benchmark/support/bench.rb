# frozen_string_literal: true

# The library behind the scripts in benchmark/: see benchmark/README.md for the law they keep.

require "etc"
require "fileutils"
require "io/wait"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "socket"
require "tempfile"
require "tmpdir"

$LOAD_PATH.unshift File.expand_path("../../lib", __dir__)
require "cuttle"

module Bench
  ROOT = File.expand_path("../..", __dir__)
  # Everything the benchmarks make: programs, peers' gems, logs, results.
  TMP = File.join(ROOT, "tmp/benchmark")
  APPS = File.join(ROOT, "benchmark/apps")
  RESULTS = File.join(TMP, "results")
  LOGS = File.join(TMP, "logs")

  # Path of one of the apps in benchmark/apps.
  def self.app(name)
    File.join(APPS, "#{name}.ru")
  end

  # A benchmark script: the block gets the plan to fill in, and the Options; then it is run as the command line says,
  # and told. own: a Proc that adds options of the script's own to the OptionParser.
  def self.run(name, title, columns:, rounds: 5, seconds: 3, own: nil)
    options = Options.new(ARGV, name: name, rounds: rounds, seconds: seconds, own: own)
    plan = Plan.new(name, title, columns)
    yield plan, options
    return puts(plan.subjects.map(&:name)) if options.list?

    Quiet.alone do
      puts "seed #{options.seed}, server on core #{options.cores.server.first}, load on core #{options.cores.load.first}"
      warn "server and load share a core: these figures tell nothing" if options.cores.shared?
      journal = Journal.create(name)
      Runner.new(plan, options, journal).call
      puts "", Report.new(journal).text
    end
  rescue Interrupt
    abort "interrupted; what was measured is in #{RESULTS}"
  end
end

%w[clock statistics cores http program server wrk meter throughput idle_clients idleness recipe native
   work cuttle_load slow_clients slow_http_test hostility loaded probes overload
   canned cuttle nginx peer machine quiet options plan journal results columns report runner]
  .each { |file| require_relative file }
require_relative "../peers"
