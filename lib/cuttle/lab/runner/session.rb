# frozen_string_literal: true

require "fileutils"
require "time"

module Cuttle
  module Lab
    class Runner
      # Runs a lab from start to end: makes the plan, locks the machine, opens the results, prepares the testbed and
      # runs the plan. It closes all of these in order, even after an error.
      class Session
        WAITING = 0.1 # largest share of the budget for waiting until the cores are quiet

        # plan: a Plan, or nil to make one from the options. trials: see Runner. wanted: as in Runner, but called with
        # the directory of the results and the number. least: see TimeLimit.
        def initialize(options, out:, plan: nil, trials: {}, wanted: nil, least: 0)
          @options = options
          @trials = trials
          @wanted = wanted
          @least = least
          @own = plan
          @out = out
          @interruption = Interruption.new(out)
        end

        # Returns the directory of the results.
        def run
          Lock.hold(out: @out) { @interruption.during { measure } }
          @directory
        rescue Failure => error
          interrupted_early(error)
        end

        private

        def measure
          @time = TimeLimit.new(@options.budget, free: !@options.given?(:rounds) && @options.resume.nil?, least: @least)
          @done = Results.read(@options.resume) if @options.resume
          @app = app
          @plan = @done ? Plan.of(@done) : @own || Plan.build(@options)
          @cores = Machine::Cores.new(**@options.cpus)
          Load::Mix.read(@options.mix) if @options.mix # fails before the lab starts if the file is invalid
          @cores.pinning_self { |pinned| serve(pinned) }
        end

        def serve(pinned)
          Testbed.open(@app, @options, @cores, give_up: @interruption.method(:asked?)) do |testbed|
            @plan = fitted(testbed) unless @done || @own
            open_store { |store| carry_out(store, testbed, pinned) }
          end
        end

        # A plan for this machine. Some servers can't be combined with this app's bundle.
        def fitted(testbed)
          plan = Plan.build(@options, peers: testbed.peers)
          return plan unless @options.pilot?

          found = Pilot.new(plan, testbed, @cores, interruption: @interruption, **pilot).call or raise Interrupt
          @out.puts "a start takes #{Report::Units.time(found.start * 1e9)}, and #{found.configuration} serves " \
                    "#{Report::Numbers.rate(found.capacity)} requests/s"
          Plan.build(@options, peers: testbed.peers, pilot: found, spent: @time.elapsed)
        end

        def pilot
          { connections: @options.concurrency.max || Options::CONCURRENCY.max,
            duration: @options.given?(:duration) ? @options.duration : 0 }
        end

        # A Ctrl-C at the terminal also ends the programs that prepare the app. That is not a failure of the app.
        def interrupted_early(error)
          raise(@interruption.asked? && @directory.nil? ? Interrupt : error)
        end

        # The app. When a lab is resumed, the header names it, because a relative path may now mean another file.
        def app
          return Apps.find(@options.app, profile: @options.profile) unless @done

          name = @done.app["name"]
          Apps::NAMES.key?(name) ? Apps.find(name, profile: @done.app["profile"] || {}) : Apps.find(@done.app["path"])
        end

        def open_store
          store = @done ? resume : create
          yield store
        ensure
          store&.close
        end

        def resume
          @directory = @options.resume
          Results::Store.resume(@directory)
        end

        def create
          @directory = new_directory
          Results::Store.create(@directory, header).tap do |store|
            @plan.missing.each do |id, reason|
              store.append("type" => "missing", "configuration" => id, "reason" => reason)
            end
          end
        end

        # The name is the time. A second lab in the same second gets a number.
        def new_directory
          base = File.join(@options.directory, Time.now.strftime("%Y%m%d-%H%M%S"))
          [base, *(2..).lazy.map { |number| "#{base}-#{number}" }.first(100)].find { |path| !File.exist?(path) }
        end

        def header
          { "type" => "lab", "schema" => Results::SCHEMA, "id" => File.basename(@directory),
            "started_at" => Time.now.utc.iso8601(3), "command" => [*@options.command, "--seed", @options.seed.to_s],
            "app" => { "name" => @app.name, "path" => @app.rackup, "profile" => @app.profile },
            "environment" => Machine.facts(@cores),
            "fairness" => Plan::Fairness.new(@plan, app: @app, cores: @cores).to_a,
            **@plan.to_h, **@options.notes }
        end

        def carry_out(store, testbed, pinned)
          introduce
          progress = Progress.new(@out, total: @plan.length, done: @done ? @done.runs.length : 0)
          runner = Runner.new(plan: @plan, testbed: testbed, cores: @cores, store: store, progress: progress,
                              done: @done, trials: @trials,
                              wanted: @wanted && ->(number) { @wanted.call(@directory, number) },
                              speed: core_speed, interruption: @interruption, time: @time)
          [*Machine::Warnings.before(@cores, pinned: pinned), *elsewhere].each { |warning| runner.warn_of(warning) }
          begin
            runner.run
          ensure
            progress.finish
          end
          runner.finish
        end

        # The limit of waiting is smaller in a short lab.
        def core_speed
          limit = [Machine::CoreSpeed::LIMIT, *(@options.budget * WAITING if @options.budget)].min
          Machine::CoreSpeed.new(@cores, give_up: @interruption.method(:asked?), limit: limit)
        end

        # A warning if the machine or Ruby has changed since the lab began: rounds under different conditions are not
        # comparable.
        def elsewhere
          return unless @done

          facts = Machine.facts(@cores)
          changed = (facts.keys - Machine::MEASURED).reject { |key| facts[key] == @done.environment[key] }
          Machine::Warnings.resumed(changed) if changed.any?
        end

        def introduce
          twice = " (one twice)" if @plan.present.any?(&:control_of)
          configurations = Report::Units.plural(@plan.present.length, "configuration")
          loads = Report::Units.plural(@plan.loads.length, "load")
          rounds = Report::Units.plural(@plan.rounds, "round")
          @out.puts "#{@directory}: #{configurations}#{twice} under #{loads}, " \
                    "in #{"about " if @options.budget}#{rounds}; seed #{@plan.seed}"
          @out.puts "servers on core #{@cores.server.join(",")}, load on core #{@cores.load.join(",")}"
          @plan.cut.each { |sentence| @out.puts "left out for the budget: #{sentence}" }
          @plan.missing.each do |id, reason|
            @out.puts "left out: #{@plan.configurations.find { |each| each.id == id }.name}: #{reason}"
          end
        end
      end
    end
  end
end
