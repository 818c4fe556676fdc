# frozen_string_literal: true

require "time"

module Cuttle
  module Tuner
    # Measures a Profile of an app on this machine. docs/tuning-profile.md describes what it measures, and how.
    #
    #   Profiler.new(options, budget: 600, out: $stderr).run   # => Profile
    #
    # options are a Lab::Options: app, profile, path, mix (a file, or an Array of Load::Request), engines, rubies (the
    # first), keep_alive (the first), cpus, timeout, seed, patience. budget: seconds for the whole `cuttle tune`; the
    # profile takes at most SHARE of it, without the app's preparation, its first boot and its first answers. The lab
    # starts the servers, proves that their settings took effect, and stops them.
    #
    # Ctrl-C ends the measurement. The Profile then lacks some facts (`interrupted?` is true). If no requests have been
    # measured yet, `run` raises Interrupt. Raises Failure, Lab::Failure, Load::Failure and UsageError.
    class Profiler
      autoload :Answers, "cuttle/tuner/profiler/answers"
      autoload :Bench, "cuttle/tuner/profiler/bench"
      autoload :Client, "cuttle/tuner/profiler/client"
      autoload :Costs, "cuttle/tuner/profiler/costs"
      autoload :Databases, "cuttle/tuner/profiler/databases"
      autoload :Reading, "cuttle/tuner/profiler/bench"
      autoload :Runs, "cuttle/tuner/profiler/runs"
      autoload :Samples, "cuttle/tuner/profiler/samples"
      autoload :Schedule, "cuttle/tuner/profiler/schedule"
      autoload :Sequence, "cuttle/tuner/profiler/sequence"
      autoload :Unproved, "cuttle/tuner/profiler/bench"

      SHARE = 0.4 # of the budget
      BUDGET = 600

      def initialize(options, budget: BUDGET, out: $stderr)
        @options = options
        @out = out
        @interruption = Lab::Runner::Interruption.new
        @schedule = Schedule.new(budget * SHARE, stop: @interruption.method(:asked?))
        @notes = []
      end

      # Whether Ctrl-C ended the measurement early.
      def interrupted?
        @interruption.asked?
      end

      def run
        Lab::Runner::Lock.hold(out: @out) { @interruption.during { measure } }
      rescue Error
        raise unless interrupted?

        raise Interrupt # a Ctrl-C at the terminal also ends the programs that prepare the app
      end

      private

      def measure
        app = Lab::Apps.find(@options.app, profile: @options.profile)
        cores = Lab::Machine::Cores.new(**@options.cpus)
        cores.pinning_self { |pinned| measure_on(cores, pinned, app) }
      end

      def measure_on(cores, pinned, app)
        Lab::Machine::Warnings.before(cores, pinned: pinned).each { |each| note("#{each.text}; #{each.advice}") }
        Lab::Runner::Testbed.open(app, @options, cores, give_up: @interruption.method(:asked?)) do |testbed|
          bench = Bench.new(testbed, @options, cores, @interruption)
          profile(app, bench, entries(bench), cores)
        end
      end

      # Measures the requests one at a time, with one worker and one thread.
      def entries(bench)
        setting = Setting.new(engine: "hybrid", workers: 1, threads: 1)
        bench.serve(setting, flags: ["--server-timing"]) do |site|
          shapes = Mix.shapes(site.requests)
          Answers.new(site, shapes, stop: @interruption.method(:asked?), warn: method(:note)).check
          @schedule.start # how long the app takes until here does not depend on the budget
          samples = Sequence.new(site, shapes, seed: @options.seed, schedule: @schedule).run
          say(samples.to_s)
          samples
        end
      end

      # Measures the same app under load.
      def profile(app, bench, samples, cores)
        runs = Runs.new(bench, samples, engines: @options.engines, schedule: @schedule, say: method(:say),
                                        warn: method(:note)).run
        costs = Costs.new(runs, samples, warn: method(:note))
        entries = samples.entries(unlocked: costs.unlocked, warmth: costs.warmth)
        facts = %i[overheads scaling sharing contention memory connections].to_h do |name|
          [name, costs.public_send(name)]
        end
        Profile.new(id: Time.now.strftime("profile-%Y%m%d-%H%M%S"), taken_at: Time.now.utc.iso8601(3),
                    command: [*@options.command, "--seed", @options.seed.to_s],
                    app: { "name" => app.name, "path" => app.rackup }, environment: environment(cores),
                    entries: entries, boot: bench.boot, unfit: runs.unfit, notes: @notes, **facts)
      end

      def environment(cores)
        Lab::Machine.facts(cores).merge("keep_alive" => @options.keep_alive.first,
                                        "server_ruby" => Lab::Plan::Configurations.ruby_version(@options.rubies.first))
      end

      def note(text)
        @notes << text
        say("note: #{text}")
      end

      def say(text)
        @out.puts("profile: #{text}")
      end
    end
  end
end
