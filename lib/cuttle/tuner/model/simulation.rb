# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # Simulates the requests in a server, event by event: arrivals, ends of waits, and ends of computing. The same
      # random numbers give the same run.
      #
      #   arrives -> queue -> a slot of a unit -> GVL -> computes -> waits -> GVL -> computes -> … -> answered
      class Simulation
        # The results of a run. times and queues are the seconds of each counted response, in the order of the
        # responses: until its end, and until it had a slot. cpu is the average number of cores in use.
        Outcome = Struct.new(:rate, :times, :queues, :cpu, keyword_init: true)

        # A request. It waits +waits+ times, and computes before each wait and at the end: +stretch+ seconds with the
        # GVL, then +free+ seconds without it. left: the rest of the stretch. phase: its current state.
        Job = Struct.new(:phase, :arrived, :taken, :unit, :stretch, :free, :left, :waits, :wait, :due)

        # A process or a ractor: it has a GVL. inside: the number of requests in the app. holder: the one that has the
        # GVL. ready: the requests that want it again. waiting: the number of requests that wait. pooled: the requests
        # that wait for a database connection. served: whether a new request had the last turn. tick: the time
        # of its next interruption, nil while its clock rests. clock: the Job that stands for it in the agenda.
        Unit = Struct.new(:inside, :holder, :ready, :waiting, :pooled, :served, :clock, :tick)

        # draws: from Work#draws. contention: as in a Profile.
        def initialize(rules:, machine:, draws:, random:, contention: 0.0)
          @rules = rules
          @slots, @quantum, @pool = rules.slots, rules.quantum, rules.pool
          @clocked, @early, @in_turn = rules.clocked, rules.early, rules.in_turn
          @machine = machine
          @draws = draws
          @random = random
          @contention = contention
        end

        # Runs until +skip+ and then +count+ requests have been answered, and returns the Outcome of the latter. last:
        # the total number of requests to send, nil for no limit.
        def run(demand, count:, skip: 0, last: nil)
          prepare(demand, skip, last)
          happen(@agenda.next) until @answered == skip + count
          seconds = @agenda.now - @since
          Outcome.new(rate: count / seconds, times: @times, queues: @queues, cpu: (@agenda.used - @used) / seconds)
        end

        private

        def prepare(demand, skip, last)
          @agenda = Agenda.new(@machine)
          @units = Array.new(@rules.units) { Unit.new(0, nil, [], 0, [], false) }
          @queue, @times, @queues = [], [], []
          @answered, @skip = 0, skip
          @since = @used = 0.0
          @unsent = last || Float::INFINITY
          @rate = demand.rate
          @rate ? expect : demand.connections.times { arrive }
        end

        def happen(job)
          case job.phase
          when :locked then computed(job)
          when :waiting then waited(job)
          when :unlocked then ended(job)
          when :clock then interrupt(job.unit)
          else
            expect
            arrive
          end
        end

        # -- arriving

        # In an open loop, gaps between arrivals are random.
        def expect
          @agenda.wait(Job.new(:arriving), -Math.log(1 - @random.rand) / @rate)
        end

        def arrive
          return if @unsent.zero?

          @unsent -= 1
          draw = @draws.call
          parts = draw.waits + 1
          job = Job.new(:queued, @agenda.now, nil, nil, draw.locked / parts, draw.unlocked / parts, nil, draw.waits,
                        draw.wait)
          unit = host if @queue.empty?
          return @queue << job unless unit

          unit.tick = nil unless unit.holder
          take(unit, job)
        end

        # The unit that takes a new request now: the one with the fewest requests among those that can; nil if none can.
        def host
          best = nil
          @units.each do |unit|
            next if unit.inside >= @slots || (unit.holder && !@early)

            best = unit if best.nil? || unit.inside < best.inside
          end
          best
        end

        def take(unit, job)
          job.unit = unit
          job.taken = @agenda.now
          job.stretch += @contention * unit.inside / (job.waits + 1) unless @contention.zero?
          job.left = job.stretch
          unit.inside += 1
          want(job)
        end

        # -- computing

        # The job continues when it has the GVL.
        def want(job)
          unit = job.unit
          return hold(job) unless unit.holder

          unit.ready << job
          expect_interruption(unit) if @clocked
        end

        def hold(job)
          unit = job.unit
          unit.holder = job
          piece = @clocked ? job.left : [job.left, @quantum].min
          job.left -= piece
          job.phase = :locked
          @agenda.compute(job, piece)
          expect_interruption(unit) if @clocked && !unit.ready.empty?
        end

        # The GVL's holder has computed its stretch, or its quantum.
        def computed(job)
          if job.left.positive? then preempt(job)
          elsif job.free.positive?
            job.phase = :unlocked
            @agenda.compute(job, job.free)
            release(job.unit)
          elsif job.waits.zero? then answer_and_go_on(job)
          else
            pause(job)
            release(job.unit)
          end
        end

        # The same for a stretch without the GVL.
        def ended(job)
          return pause(job) unless job.waits.zero?

          job.unit.inside -= 1
          release(job.unit) unless job.unit.holder
          answered(job)
        end

        # Requests that want the GVL come first. New requests don't: a thread without a request waits until it is free.
        def preempt(job)
          ready = job.unit.ready
          ready << job
          hold(ready.shift)
        end

        # The process's clock starts when a thread has to wait for the GVL, and stops when a thread finds the GVL free.
        def expect_interruption(unit)
          unit.tick ||= @agenda.now + @quantum
          return if unit.clock

          unit.clock = Job.new(:clock, nil, nil, unit)
          @agenda.wait(unit.clock, [unit.tick - @agenda.now, 0.0].max)
        end

        # A stopped clock may have started again, with a later tick.
        def interrupt(unit)
          unit.clock = nil
          return if unit.ready.empty?
          return expect_interruption(unit) if unit.tick.nil? || unit.tick > @agenda.now

          unit.tick = nil
          job = unit.holder
          job.left += @agenda.withdraw(job)
          preempt(job)
        end

        # A thread that has answered looks for a new request while it still has the GVL. An event loop does not if its
        # last turn was a new request's.
        def answer_and_go_on(job)
          unit = job.unit
          unit.inside -= 1
          unit.holder = nil
          @queue.empty? || (unit.served && !unit.ready.empty?) ? release(unit) : serve(unit)
          answered(job)
        end

        # Passes the GVL to the next request that wants it. Requests that have waited come before new requests, or
        # alternate with them.
        def release(unit)
          unit.holder = nil
          if !unit.ready.empty? && !(@in_turn && !unit.served && new?(unit))
            unit.served = false
            hold(unit.ready.shift)
          elsif new?(unit)
            serve(unit)
          end
        end

        def serve(unit)
          unit.served = @in_turn
          take(unit, @queue.shift)
        end

        # Whether the unit may take a new request.
        def new?(unit)
          !@queue.empty? && unit.inside < @slots
        end

        # In a closed loop, the connection sends its next request.
        def answered(job)
          @answered += 1
          if @answered > @skip
            @times << (@agenda.now - job.arrived)
            @queues << (job.taken - job.arrived)
          elsif @answered == @skip
            @since, @used = @agenda.now, @agenda.used
          end
          arrive unless @rate
        end

        # -- waiting

        def pause(job)
          job.waits -= 1
          job.left = job.stretch
          job.unit.waiting < @pool ? start_waiting(job) : job.unit.pooled << job
        end

        def start_waiting(job)
          job.unit.waiting += 1
          job.phase = :waiting
          @agenda.wait(job, job.wait)
        end

        def waited(job)
          unit = job.unit
          unit.waiting -= 1
          start_waiting(unit.pooled.shift) unless unit.pooled.empty?
          unit.tick = nil unless unit.holder
          want(job)
        end
      end
    end
  end
end
