# frozen_string_literal: true

module Bench
  # The work of an app for a request: steps of computing, then waiting, in milliseconds, such as "1:4 1:4". Computing is
  # a number of additions, calibrated once per run, so it is the same for every server. Waiting is sleep. Apps load only
  # this file.
  class Work
    LOOPS = "WORK_LOOPS" # the variable with the number of additions per millisecond
    STEPS = "WORK_STEPS"
    SAMPLES = 301
    PORTION = 10_000 # additions in one call

    # The environment of a server whose app performs these steps.
    def self.environment(steps, loops)
      { STEPS => steps, LOOPS => loops.to_s }
    end

    # The number of additions per millisecond on one of `cores`, in a process like a server's.
    def self.calibrate(cores)
      command = Lab::Machine::Cores.pinned(cores.server, [RbConfig.ruby, __FILE__, "calibrate"])
      Integer(IO.popen([Lab::Servers::Server::CLEAN, *command], &:read))
    end

    # Computes in short calls, as an app's methods do. When Ruby switches threads, YJIT leaves the rest of the current
    # call to the interpreter. One interrupted call of 5 ms took up to 80 ms of CPU time.
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

    # The median of many portions, in this thread's CPU time. The first ones warm up the compiler.
    def self.measure
      times = Array.new(SAMPLES) do
        start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
        compute(PORTION)
        Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - start
      end
      (PORTION / times.last(SAMPLES / 2).sort[SAMPLES / 4] / 1000).round
    end

    # Total milliseconds of computing, and of waiting, in the steps.
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
