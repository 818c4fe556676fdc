# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # What will happen in a simulation, and when: jobs that wait for a time, and jobs that compute on a Machine's
      # cores. A job has due=, which belongs to the agenda while the job is in it.
      #
      # All that compute do so equally fast (Machine#speed), so one clock tells when each will end: @done, the seconds
      # of computing that each of them has had since the start. It runs slower than the time while more compute than
      # there are cores.
      class Agenda
        # now: seconds since the start. used: seconds of the cores' time that were used since then.
        attr_reader :now, :used

        def initialize(machine)
          @machine = machine
          @now = @done = @used = 0.0
          @computing = []
          @waiting = []
          @speed = 0.0
        end

        # The job is next after that many seconds.
        def wait(job, seconds)
          job.due = @now + seconds
          insert(@waiting, job)
        end

        # The job is next after it has computed for that many seconds.
        def compute(job, seconds)
          job.due = @done + seconds
          insert(@computing, job)
          @speed = @machine.speed(@computing.length)
        end

        # Goes on to the next job's time and returns the job.
        def next
          waits, computes = @waiting.last, @computing.last
          ends = @now + ((computes.due - @done) / @speed) if computes
          return next_computed(ends) unless waits && (ends.nil? || waits.due <= ends)

          advance(waits.due)
          @waiting.pop
        end

        private

        def next_computed(time)
          advance(time)
          job = @computing.pop
          @done = job.due
          @speed = @machine.speed(@computing.length) unless @computing.empty?
          job
        end

        def advance(time)
          passed = time - @now
          @done += passed * @speed
          @used += passed * [@computing.length, @machine.cores].min
          @now = time
        end

        # Both lists are in descending order, so what comes next is at the end.
        def insert(list, job)
          list.insert(list.bsearch_index { |other| other.due <= job.due } || list.length, job)
        end
      end
    end
  end
end
