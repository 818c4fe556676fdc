# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # Plays requests through a server, event by event: arrivals, the ends of waits, and the ends of stretches of
      # computing. The same seed gives the same run.
      #
      #   arrival -> queue -> a slot of a unit -> GVL -> computes -> waits -> GVL -> computes -> … -> answered
      #
      # All that compute do so equally fast (Machine#speed), so one clock tells when each will end: @done, the seconds
      # of computing that each of them has had since the start. It runs slower than the time while more compute than
      # there are cores.
      class Simulation
        # What a run measured. times and queues are seconds for each counted response, in the order in which they came;
        # cpu is the number of cores in use on average; most is the largest number of requests that a unit had in the
        # app at once.
        Outcome = Struct.new(:rate, :times, :queues, :cpu, :most, keyword_init: true)

        # A request under way.
        Job = Struct.new(:arrived, :taken, :unit, :left, :stretch, :free, :waits, :wait, :due, :phase)

        # A process, or a ractor: what has a GVL. inside: requests in the app; holder: whether one has the GVL; ready:
        # those that want it again; waiting, pooled: those that wait for something else, and for a database connection.
        Unit = Struct.new(:inside, :busy, :ready, :waiting, :pooled, :turn)

        # draws: a source of Draws. contention: as in a Profile.
        def initialize(rules:, machine:, draws:, random:, contention: 0.0)
          @rules = rules
          @machine = machine
          @draws = draws
          @random = random
          @contention = contention
        end

        # Runs until +skip+ and then +count+ requests were answered; the Outcome is about the latter. last: how many
        # requests are sent in all, nil if there is no end to them.
        def run(demand, count:, skip: 0, last: nil)
          prepare(demand, skip, last)
          step until @answered == skip + count
          Outcome.new(rate: count / (@now - @since), times: @times, queues: @queues, cpu: @area / (@now - @since),
                      most: @most)
        end

        private

        def prepare(demand, skip, last)
          @units = Array.new(@rules.units) { Unit.new(0, false, [], 0, [], false) }
          @now = @done = @since = @area = 0.0
          @computing, @timers, @queue = [], [], []
          @times, @queues = [], []
          @answered, @skip, @most = 0, skip, 0
          @unsent = last || Float::INFINITY
          @rate = demand.rate
          @closed = !demand.open?
          @speed = 0.0
          @closed ? demand.connections.times { arrive } : schedule_arrival
        end

        def step
          timer = @timers.last
          job = @computing.last
          ends = @now + ((job.due - @done) / @speed) if job
          if timer && (ends.nil? || timer.due <= ends)
            advance(timer.due)
            @timers.pop
            timer.phase == :arrival ? arrive_openly : waited(timer)
          else
            advance(ends)
            @done = job.due
            @computing.pop
            set_speed
            computed(job)
          end
        end

        def advance(time)
          passed = time - @now
          @done += passed * @speed
          @area += passed * [@computing.length, @machine.cores].min
          @now = time
        end

        def set_speed
          @speed = @machine.speed(@computing.length) unless @computing.empty?
        end

        # Both lists are in descending order, so what comes next is at the end.
        def insert(list, job)
          list.insert(list.bsearch_index { |other| other.due <= job.due } || list.length, job)
        end

        # -- arrivals

        def arrive
          return if @unsent.zero?

          @unsent -= 1
          draw = @draws.call
          stretches = draw.waits + 1
          job = Job.new(@now, nil, nil, nil, draw.locked / stretches, draw.unlocked / stretches, draw.waits, draw.wait)
          unit = @queue.empty? ? host : nil
          unit ? take(unit, job) : @queue << job
        end

        def schedule_arrival
          insert(@timers, Job.new.tap do |job|
            job.due = @now - (Math.log(1 - @random.rand) / @rate)
            job.phase = :arrival
          end)
        end

        def arrive_openly
          schedule_arrival
          arrive
        end

        # The unit that takes a new request now: the one with the fewest among those that can; nil if none can.
        def host
          best = nil
          @units.each do |unit|
            next if unit.inside >= @rules.slots || (unit.busy && !@rules.early)

            best = unit if best.nil? || unit.inside < best.inside
          end
          best
        end

        def take(unit, job)
          job.unit = unit
          job.taken = @now
          job.stretch += @contention * unit.inside / (job.waits + 1) if unit.inside.positive?
          unit.inside += 1
          @most = unit.inside if unit.inside > @most
          job.left = job.stretch
          want(job)
        end

        # -- computing

        # The job goes on as soon as it has the GVL.
        def want(job)
          unit = job.unit
          unit.busy ? unit.ready << job : hold(job)
        end

        def hold(job)
          job.unit.busy = true
          piece = [job.left, @rules.quantum].min
          job.left -= piece
          job.phase = :locked
          compute(job, piece)
        end

        def compute(job, seconds)
          job.due = @done + seconds
          insert(@computing, job)
          set_speed
        end

        # A stretch of computing has ended, with the GVL or without.
        def computed(job)
          return paused(job) if job.phase == :unlocked
          return preempt(job) if job.left.positive?

          if job.free.positive?
            job.phase = :unlocked
            compute(job, job.free)
          elsif job.waits.zero?
            return finish(job)
          else
            pause(job)
          end
          release(job.unit)
        end

        def paused(job)
          if job.waits.zero?
            answer(job)
            release(job.unit) unless job.unit.busy
          else
            pause(job)
          end
        end

        # The quantum is over: others that want the GVL come first.
        def preempt(job)
          unit = job.unit
          return hold(job) if unit.ready.empty? && (@queue.empty? || unit.inside >= @rules.slots)

          unit.ready << job
          release(unit)
        end

        # A thread that has answered looks for a new request while it still has the GVL.
        def finish(job)
          unit = job.unit
          unit.busy = false
          unit.inside -= 1
          waiting = @queue.any? && !(unit.turn && unit.ready.any?)
          if waiting
            unit.turn = @rules.in_turn
            take(unit, @queue.shift)
          else
            release(unit)
          end
          count(job)
        end

        def answer(job)
          job.unit.inside -= 1
          count(job)
        end

        def release(unit)
          unit.busy = false
          if unit.ready.any? && !(@rules.in_turn && !unit.turn && new?(unit))
            unit.turn = false
            hold(unit.ready.shift)
          elsif new?(unit)
            unit.turn = true
            take(unit, @queue.shift)
          end
        end

        def new?(unit)
          @queue.any? && unit.inside < @rules.slots
        end

        def count(job)
          @answered += 1
          if @answered > @skip
            @times << (@now - job.arrived)
            @queues << (job.taken - job.arrived)
          elsif @answered == @skip
            @since = @now
            @area = 0.0
          end
          arrive if @closed
        end

        # -- waiting

        def pause(job)
          unit = job.unit
          job.waits -= 1
          job.left = job.stretch
          return unit.pooled << job if unit.waiting >= @rules.pool

          start_wait(job)
        end

        def start_wait(job)
          job.unit.waiting += 1
          job.due = @now + job.wait
          job.phase = :waiting
          insert(@timers, job)
        end

        def waited(job)
          unit = job.unit
          unit.waiting -= 1
          start_wait(unit.pooled.shift) if unit.pooled.any?
          want(job)
        end
      end
    end
  end
end
