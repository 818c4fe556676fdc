# frozen_string_literal: true

require "fileutils"
require "time"

module Cuttle
  module Lab
    class Runner
      # A lab from its beginning to its end: plans, locks the machine, opens the results, sets the stage, runs, and closes
      # all of that in order, whatever happens.
      class Session
        # plan: a Plan, or nil for what the options ask for.
        def initialize(options, out:, plan: nil)
          @options = options
          @own = plan
          @out = out
          @interruption = Interruption.new
        end

        # Returns the directory of the results.
        def run
          Lock.hold(waiting: method(:say_waiting)) { @interruption.during { measure } }
          @directory
        rescue Failure => error
          interrupted_early(error)
        end

        private

        def measure
          @done = Results.read(@options.resume) if @options.resume
          @app = app
          @plan = @done ? Plan.of(@done) : @own || Plan.build(@options)
          @cores = Machine::Cores.new(**@options.cpus)
          Load::Mix.read(@options.mix) if @options.mix # what is wrong with it is better said now
          pinned = @cores.pin_self
          Testbed.open(@app, @options, @cores) do |testbed|
            @plan = Plan.build(@options, peers: testbed.peers) unless @done || @own # what this app's bundle keeps out
            open_store { |store| carry_out(store, testbed, pinned) }
          end
        end

        # A Ctrl-C at the terminal ends what was preparing the app as well: that is no failure of the app's.
        def interrupted_early(error)
          raise @interruption.asked? && @directory.nil? ? Interrupt : error
        end

        # Where it is gone on with, what the header says: the directory that a path was relative to may be another now.
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

        # Named after the time; a second one within a second gets a number.
        def new_directory
          base = File.join(@options.directory, Time.now.strftime("%Y%m%d-%H%M%S"))
          [base, *(2..).lazy.map { |number| "#{base}-#{number}" }.first(100)].find { |path| !File.exist?(path) }
        end

        def header
          { "type" => "lab", "schema" => Results::SCHEMA, "id" => File.basename(@directory),
            "started_at" => Time.now.utc.iso8601(3), "command" => [*@options.command, "--seed", @options.seed.to_s],
            "app" => { "name" => @app.name, "path" => @app.rackup, "profile" => @app.profile },
            "environment" => Machine.facts(@cores), "fairness" => Plan::Fairness.new(@plan, app: @app, cores: @cores).to_a,
            **@plan.to_h, **@options.notes }
        end

        def carry_out(store, testbed, pinned)
          introduce
          progress = Progress.new(@out, total: @plan.length, done: @done ? @done.runs.length : 0)
          runner = Runner.new(plan: @plan, testbed: testbed, cores: @cores, store: store, progress: progress, done: @done,
                              speed: Machine::CoreSpeed.new(@cores, give_up: @interruption.method(:asked?)),
                              interruption: @interruption, time: TimeLimit.new(@options.budget))
          [*Machine::Warnings.before(@cores, pinned: pinned), *elsewhere].each { |warning| runner.warn_of(warning) }
          begin
            runner.run
          ensure
            progress.finish
          end
          runner.finish
        end

        # Gone on with under other conditions: blocks of one kind are not comparable with those of another.
        def elsewhere
          return unless @done

          facts = Machine.facts(@cores)
          changed = facts.keys.reject { |key| facts[key] == @done.environment[key] }
          Machine::Warnings.resumed(changed) if changed.any?
        end

        def introduce
          twice = " (one twice)" if @plan.present.any?(&:control_of)
          @out.puts "#{@directory}: #{@plan.present.length} configurations#{twice} under #{@plan.loads.length} " \
                    "loads, in #{@plan.rounds} rounds; seed #{@plan.seed}"
          @out.puts "servers on core #{@cores.server.join(",")}, load on core #{@cores.load.join(",")}"
          @plan.cut.each { |sentence| @out.puts "left out for the budget: #{sentence}" }
          @plan.missing.each do |id, reason|
            @out.puts "left out: #{@plan.configurations.find { |each| each.id == id }.name}: #{reason}"
          end
        end

        def say_waiting(pid)
          @out.puts "waiting for another lab or benchmark (pid #{pid}) to end"
        end
      end

      # Ctrl-C during a lab: the first one ends the run that is under way, and then the lab, in order: servers are
      # stopped, what was measured is told. A second one doesn't wait for that order.
      class Interruption
        SIGNALS = %w[INT TERM].freeze

        def initialize
          @asked = false
          @generator = nil
        end

        def asked?
          @asked
        end

        # Runs +generator+, which the signal interrupts, and returns its result.
        def watch(generator)
          @generator = generator
          generator.interrupt if asked?
          generator.run
        ensure
          @generator = nil
        end

        # The block's value; signals are ours meanwhile.
        def during
          previous = SIGNALS.to_h { |signal| [signal, trap(signal) { ask }] }
          yield
        ensure
          previous&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
        end

        # From a trap handler. Raises Interrupt in the main thread the second time.
        def ask
          Thread.main.raise(Interrupt) if @asked
          @asked = true
          @generator&.interrupt
        end
      end
    end
  end
end
