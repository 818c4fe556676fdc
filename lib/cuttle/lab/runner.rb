# frozen_string_literal: true

require "time"

module Cuttle
  module Lab
    # Carries out a plan, round by round. In each round every configuration gets a new server, and that server gets
    # every load. Each run is on the disk before the next one begins. If a configuration fails, the runner records the
    # failure and continues with the others.
    class Runner
      autoload :Generation, "cuttle/lab/runner/generation"
      autoload :Interruption, "cuttle/lab/runner/interruption"
      autoload :Lock, "cuttle/lab/runner/lock"
      autoload :Pilot, "cuttle/lab/runner/pilot"
      autoload :Progress, "cuttle/lab/runner/progress"
      autoload :Refusal, "cuttle/lab/runner/refusal"
      autoload :Resumed, "cuttle/lab/runner/resumed"
      autoload :Roster, "cuttle/lab/runner/roster"
      autoload :Session, "cuttle/lab/runner/session"
      autoload :Testbed, "cuttle/lab/runner/testbed"
      autoload :TimeLimit, "cuttle/lab/runner/time_limit"
      autoload :Trial, "cuttle/lab/runner/trial"
      autoload :WarmUp, "cuttle/lab/runner/warm_up"

      # The results can't be written, so the lab must stop.
      class Unwritable < Error; end

      # A configuration is left out after this many failed starts.
      FAILURES = 2
      # The share of a budget that the first round may take.
      FIRST_ROUND = 1 / 3r
      # At most one of this many runs is repeated. On a machine that is always disturbed, repetitions don't help.
      REPEATED = 4

      # store: a Results::Store. done: Results of a lab to resume, or nil. time: a TimeLimit. trials: name of a trial in
      # a load => what makes the trial from Trial's arguments; a load without a name gets a Trial. wanted: called before
      # each round with its number; returns the pairs [configuration id, load id] of that round, or nil for all. A round
      # without pairs ends the lab. Until then the lab isn't complete, also if its time is over.
      def initialize(plan:, testbed:, cores:, speed:, store:, progress:, interruption:, time:, done: nil,
                     trials: {}, wanted: nil)
        @plan = plan
        @testbed = testbed
        @cores = cores
        @speed = speed
        @store = store
        @progress = progress
        @interruption = interruption
        @generation = Generation.new(interruption)
        @time = time
        @resumed = Resumed.new(done)
        @trials = trials
        @wanted = wanted
        @order = @resumed.order
        @repeated = @resumed.repeated
        @failures = Hash.new(0)
        @roster = Roster.new(plan, out: @resumed.left_out, clock: -> { Cuttle.now - @speed.waited })
      end

      # Returns when the plan is complete, nothing more is wanted, the lab was interrupted, or its time is over. Raises
      # Unwritable, and Failure if no server can be started.
      def run
        @time.rounds(rounds).times do |number|
          starts = starts(number)
          break if starts.empty?
          next @time.skip if @resumed.whole?(starts)
          break out_of_time(number) if @time.no_room_for_round?

          late(number) if @time.late?
          whole = make(number, starts)
          break if @interruption.asked?
          break whole ? out_of_time(number + 1) : incomplete(number) if @time.over?
          break if @plan.present.none? { |configuration| go_on?(configuration) }

          shrink if learning?(number)
          foresee(number)
        end
        nothing_runs if @order.zero? && !@interruption.asked?
      end

      # Writes a warning to the results and prints it.
      def warn_of(warning)
        @progress.say("warning: #{warning.text}; #{warning.advice}")
        append("warning", warning.to_h)
      end

      # Writes the last line of the results. paused: whether only the time was over before everything wanted was there.
      def finish
        paused = !@wanted.nil? && !@interruption.asked? && (@out_of_time || @time.over?)
        append("end", "interrupted" => @interruption.asked? || paused, **(paused ? { "paused" => true } : {}))
      end

      private

      # A lab with a budget may have begun more rounds than were planned.
      def rounds
        [@plan.rounds, @resumed.rounds].max
      end

      # The Starts of a round.
      def starts(number)
        wanted = @wanted&.call(number)
        starts = @plan.round(number)
        wanted ? starts.filter_map { |start| start.only(wanted) } : starts
      end

      # Makes a round. Returns whether time was left for all of it.
      def make(number, starts)
        @generation.round = number
        @again = (number if @resumed.begun?(number))
        @progress.again(@resumed.runs(number).length) if @again
        waited = @speed.waited
        whole = @time.round { starts.map { |start| attempt(start) }.all? }
        @waited = @speed.waited - waited
        @time.once(@waited - waits(1))
        whole
      end

      # Expected seconds of waiting for the cores in so many rounds: all rounds together have a limit.
      def waits(rounds)
        [@waited * rounds, @speed.left].min
      end

      # From this line on, what the results had of the round does not count. So it precedes the round's first new line:
      # until then, nothing takes the place of what they had.
      def again
        round, @again = @again, nil
        append("again", "block" => round) if round
      end

      def go_on?(configuration)
        !@interruption.asked? && !@time.over? && !out?(configuration)
      end

      # Whether it was given up or left out.
      def out?(configuration)
        @failures[configuration.id] >= FAILURES || !@roster.include?(configuration)
      end

      # Whether there is time for the start. On a machine that is so busy that the first round would take most of the
      # budget, the rest of that round is left out.
      def room?(start)
        return false unless go_on?(start.configuration)
        return true unless learning?(start.round) && @time.round_took?(FIRST_ROUND)
        return true if @roster.stays?(start.configuration)

        leave_out(start.configuration, "the first round took too long")
        false
      end

      def learning?(round)
        round.zero? && @time.sheds?
      end

      # Leaves configurations out if, after the first round, there is no time for enough rounds of all.
      def shrink
        out = @roster.shrink(@time.left - waits(Plan::Budget::ROUNDS), most: @time.rounds(@plan.rounds))
        out.each { |configuration, reason| leave_out(configuration, reason) }
        @time.expect(@roster.seconds + waits(1))
      end

      # Estimates after each round how many runs there will be. Rounds in which only some are wanted are not known.
      def foresee(number)
        return if @wanted

        runs = @plan.present.select { |each| go_on?(each) }.sum { |each| @plan.loads_of(each).length }
        @progress.total = @progress.runs + (@time.rounds_left(rounds - number - 1) * runs)
      end

      def leave_out(configuration, reason)
        @roster.leave_out(configuration)
        @progress.say("#{configuration.name}: left out from here on, for the budget: #{reason}")
        append("left_out", "configuration" => configuration.id, "block" => 0, "reason" => reason)
      end

      # Starts the server once, and again for the remaining loads if it died under one. Returns false if a load is left
      # because there was no time.
      def attempt(start)
        left = start.loads.dup
        if room?(start)
          @progress.start(start.configuration, start.round)
          @roster.time(start) { serve(start, left) while left.any? && go_on?(start.configuration) }
        end
        left.empty? || out?(start.configuration)
      end

      # Removes from +loads+ those that are done or lost: all of them if the server does not start, the current one if
      # the server dies.
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
          trial = @trials.fetch(loads.first.trial, Trial.method(:new))
                         .call(server: server, load: loads.first, testbed: @testbed, plan: @plan, cores: @cores,
                               speed: @speed, generator: @generation)
          run = trial.run(start.configuration, routes.to(loads.first), again: @repeated <= @order / REPEATED)
          keep(start, loads.shift, run) if run
          yield
        end
      end

      def keep(start, load, run)
        append("run", { **place(start, load), "order" => @order += 1, **run })
        @repeated += 1 if run["repeated"]
        @roster.add(start, load, run)
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
        again if Results::OF_ROUNDS.include?(type)
        @store.append({ "type" => type, "at" => Time.now.utc.iso8601(3) }.merge(hash))
      rescue Failure => error
        raise Unwritable, error.message
      end

      # A lab without a fixed number of rounds made as many as fitted. One that isn't complete is continued.
      def out_of_time(done)
        @out_of_time = true
        over("after #{done} of #{@plan.rounds} rounds") unless done >= @plan.rounds || @late || @wanted
      end

      def incomplete(number)
        of = " of #{@plan.rounds}" if number < @plan.rounds
        over("in round #{number + 1}#{of}, which is incomplete") unless @wanted
      end

      # The least number of rounds runs in any case.
      def late(done)
        return if @late

        @late = true
        over("after #{done} of #{@plan.rounds} rounds; the lab continued, because fewer than #{@time.least} rounds " \
             "show nothing")
      end

      def over(where)
        warn_of(Machine::Warnings::Warning.new("budget", "the time was over #{where}",
                                               "increase --budget, or continue with --resume"))
      end

      def nothing_runs
        raise Failure, "nothing could be measured: #{@reason || "there is no server"}"
      end
    end
  end
end
