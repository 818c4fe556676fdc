# frozen_string_literal: true

require "time"

module Cuttle
  module Lab
    # Carries a plan out: block after block, and within each a fresh server for every configuration, which gets every
    # load. Each run is on the disk before the next begins. What goes wrong with one configuration is written down, and
    # the rest goes on.
    class Runner
      autoload :Interruption, "cuttle/lab/runner/session"
      autoload :Lock, "cuttle/lab/runner/lock"
      autoload :Progress, "cuttle/lab/runner/progress"
      autoload :Session, "cuttle/lab/runner/session"
      autoload :Testbed, "cuttle/lab/runner/testbed"
      autoload :Trial, "cuttle/lab/runner/trial"
      autoload :WarmUp, "cuttle/lab/runner/trial"

      # The results can't be written: there is no use in going on.
      class Unwritable < Error; end

      # Starts that a configuration may fail in, before it is left out.
      FAILURES = 2
      # Of so many runs one may be made again: on a machine that is always disturbed it would be of no use.
      REPEATED = 4

      # store: where lines go; done: Results of a lab that is gone on with, or nil; time: a TimeLimit.
      def initialize(plan:, testbed:, cores:, speed:, store:, progress:, interruption:, time:, done: nil)
        @plan = plan
        @testbed = testbed
        @cores = cores
        @speed = speed
        @store = store
        @progress = progress
        @interruption = interruption
        @time = time
        @done = done
        @order = done ? done.runs.map { |run| run["order"].to_i }.max.to_i : 0
        @repeated = done ? done.runs.count { |run| run["repeated"] } : 0
        @failures = Hash.new(0)
      end

      # Returns when everything is done, or the lab was interrupted, or its time is over. Raises Unwritable, and Failure
      # where no server at all can be started.
      def run
        @plan.rounds.times do |number|
          break out_of_time(number) if @time.no_room_for_round?

          @time.round { @plan.round(number).each { |start| attempt(start) if go_on?(start.configuration) } }
          break if @interruption.asked? || @plan.present.none? { |configuration| go_on?(configuration) }
        end
        nothing_runs if @order.zero? && !@interruption.asked?
      end

      # Writes a warning down, and says it.
      def warn_of(warning)
        @progress.say("warning: #{warning.text}; #{warning.advice}")
        append("warning", warning.to_h)
      end

      # The last line.
      def finish
        append("end", "interrupted" => @interruption.asked?)
      end

      private

      def go_on?(configuration)
        !@interruption.asked? && !@time.over? && @failures[configuration.id] < FAILURES
      end

      # One start, and another for the loads that are left where a server died under one.
      def attempt(start)
        left = start.loads.reject { |load| @done&.run?(start.configuration.id, load.id, start.round) }
        @progress.start(start.configuration, start.round) if left.any?
        serve(start, left) while left.any? && go_on?(start.configuration)
      end

      # Takes from +loads+ those that it is done with: none can be had of a server that does not start, and one less of
      # a server that dies.
      def serve(start, loads)
        lost = loads.dup
        @testbed.serve(start.configuration, loads) do |server, routes|
          lost = loads.first(1)
          measure(start, loads, server, routes) { lost = loads.first(1) }
        end
      rescue Failure, Load::Failure => error
        failed(start, lost, error.message)
        loads.shift(lost.length)
      end

      def measure(start, loads, server, routes)
        until loads.empty? || !go_on?(start.configuration)
          trial = Trial.new(server: server, load: loads.first, testbed: @testbed, plan: @plan, cores: @cores,
                          speed: @speed, generator: method(:generate))
          run = trial.run(start.configuration, routes.to(loads.first), again: @repeated <= @order / REPEATED)
          keep(start, loads.shift, run) if run
          yield
        end
      end

      # By ours, or by another load tester.
      def generate(url, tester: nil, **options)
        @interruption.watch(tester ? Testers.find(tester).new(url, **options)
                                   : Load::Generator.new(Load::Plan.build(url, **options)))
      end

      def keep(start, load, run)
        append("run", { **place(start, load), "order" => @order += 1, **run })
        @repeated += 1 if run["repeated"]
        said = "#{Load::Units.count(run["rate"])}/s#{", invalid: #{run["reasons"].first}" unless run["valid"]}"
        @progress.done(start.configuration, load, said)
      end

      def failed(start, loads, reason)
        return if @interruption.asked?

        @reason ||= reason
        loads.each { |load| append("failure", { **place(start, load), "reason" => reason }) }
        @progress.say("#{start.configuration.name}, #{loads.map(&:name).join(", ")}: #{reason}")
        return if (@failures[start.configuration.id] += 1) < FAILURES

        @progress.say("#{start.configuration.name}: left out from here on")
      end

      def place(start, load)
        { "configuration" => start.configuration.id, "load" => load.id, "block" => start.round }
      end

      def append(type, hash)
        @store.append({ "type" => type, "at" => Time.now.utc.iso8601(3) }.merge(hash))
      rescue Failure => error
        raise Unwritable, error.message
      end

      def out_of_time(done)
        warn_of(Machine::Warnings::Warning.new("budget", "the time was over after #{done} of #{@plan.rounds} rounds",
                                               "give more --budget, or go on with --resume"))
      end

      def nothing_runs
        raise Failure, "nothing could be measured: #{@reason || "there is no server"}"
      end

      # The time that a lab may take, while it runs. A block is not begun where it would end late, and broken off where it
      # takes far more than that.
      class TimeLimit
        FAR = 1.25 # times the budget

        # budget: seconds, or nil for no limit.
        def initialize(budget, clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
          @budget = budget
          @clock = clock
          @began = clock.call
          @longest = 0
        end

        # The first one always has its chance.
        def no_room_for_round?
          !@budget.nil? && @longest.positive? && elapsed + (@longest / 2) > @budget
        end

        def over?
          !@budget.nil? && elapsed > @budget * FAR
        end

        # Times a block.
        def round
          began = elapsed
          yield
        ensure
          @longest = [@longest, elapsed - began].max
        end

        private

        def elapsed
          @clock.call - @began
        end
      end
    end
  end
end
