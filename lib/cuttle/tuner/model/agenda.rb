# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The future events of a simulation, with their times: jobs that wait for a time, and jobs that compute on a
      # Machine's cores. A job has the attribute due=; the agenda owns it while it contains the job.
      #
      # All computing jobs compute at the same speed (Machine#speed), so one clock gives the ends of all: @done, the
      # seconds of computing that each of them has had since the start. The clock is slower than time while more jobs
      # compute than there are cores.
      class Agenda
        # now: seconds since the start. used: the CPU seconds used since then, over all cores.
        attr_reader :now, :used

        def initialize(machine)
          @machine = machine
          @cores = machine.cores
          @now = @done = @used = 0.0
          @computing = []
          @waiting = []
          @speed = 0.0
        end

        # The job's next event comes after that many seconds.
        def wait(job, seconds)
          job.due = @now + seconds
          insert(@waiting, job)
        end

        # The job's next event comes after it has computed for that many seconds.
        def compute(job, seconds)
          job.due = @done + seconds
          insert(@computing, job)
          @speed = @machine.speed(@computing.length)
        end

        # Takes back a job that computes, and returns the seconds that it would still compute for.
        def withdraw(job)
          @computing.delete_at(@computing.index { |other| other.equal?(job) })
          @speed = @machine.speed(@computing.length) unless @computing.empty?
          job.due - @done
        end

        # Advances the time to the next event and returns its job.
        def next
          waits = @waiting.last
          if (computes = @computing.last)
            time = @now + ((computes.due - @done) / @speed)
            computes = nil if waits && waits.due <= time
          end
          advance(computes ? time : waits.due)
          return @waiting.pop unless computes

          @computing.pop
          @done = computes.due
          @speed = @machine.speed(@computing.length) unless @computing.empty?
          computes
        end

        private

        def advance(time)
          passed = time - @now
          @done += passed * @speed
          @used += passed * [@computing.length, @cores].min
          @now = time
        end

        # Both lists are in descending order, so the next event is at the end. Most computing jobs come there.
        def insert(list, job)
          due = job.due
          return list << job if list.empty? || list.last.due > due

          list.insert(list.bsearch_index { |other| other.due <= due }, job)
        end
      end
    end
  end
end
