# frozen_string_literal: true

module Bench
  # What an app does for a request: steps of computing, then waiting, in milliseconds, as "1:4 1:4". Computing is a
  # number of additions, the same for every server, counted out once a run (calibrate); waiting is sleep. Apps load
  # this file alone.
  class Work
    LOOPS = "WORK_LOOPS" # the variable with the additions of a millisecond
    STEPS = "WORK_STEPS"
    SAMPLES = 301
    PORTION = 10_000 # additions in one call

    # The environment of a server whose app is to do these steps.
    def self.environment(steps, loops)
      { STEPS => steps, LOOPS => loops.to_s }
    end

    # Additions of a millisecond on one of `cores`, in a process like a server's.
    def self.calibrate(cores)
      command = Lab::Machine::Cores.pinned(cores.server, [RbConfig.ruby, __FILE__, "calibrate"])
      Integer(IO.popen([Lab::Servers::Server::CLEAN, *command], &:read))
    end

    # In short calls, as an app's methods are. When Ruby switches threads, YJIT leaves the rest of the current call to
    # the interpreter. One call of 5 ms that was interrupted took up to 80 ms of CPU time.
    def self.compute(loops)
      while loops.positive?
        add([loops, PORTION].min)
        loops -= PORTION
      end
    end

    def self.add(times)
      count = 0
      count += 1 while count < times
    end

    # The median of many portions, in this thread's CPU time. The first ones are for the compiler to warm up.
    def self.measure
      times = Array.new(SAMPLES) do
        start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
        compute(PORTION)
        Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - start
      end
      (PORTION / times.last(SAMPLES / 2).sort[SAMPLES / 4] / 1000).round
    end

    # Milliseconds of computing, and of waiting, in steps.
    def self.sums(steps)
      steps.split.map { |step| step.split(":").map { |number| Float(number) } }.transpose.map(&:sum)
    end

    def initialize(steps = ENV.fetch(STEPS), loops = Integer(ENV.fetch(LOOPS)))
      @steps = steps.split.map do |step|
        compute, wait = step.split(":").map { |number| Float(number) }
        [(compute * loops).round, wait / 1000]
      end
    end

    def call
      @steps.each do |loops, pause|
        Work.compute(loops)
        sleep(pause) if pause.positive?
      end
    end
  end
end

puts Bench::Work.measure if $PROGRAM_NAME == __FILE__ && ARGV == ["calibrate"]
