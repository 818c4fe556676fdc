# frozen_string_literal: true

require_relative "costs"
require_relative "crew"
require_relative "worker"
require_relative "queue"
require_relative "child"

module Runner
  # Keeps as many processes at work as the Crew says until the queue is empty, and passes each result to the reporter.
  class Pool
    # Seconds after which a test counts as hanging: its process prints where its threads are, and is killed.
    LIMIT = Integer(ENV.fetch("CUTTLE_TEST_LIMIT", 300))

    # The result of a test that could not report one itself.
    Broken = Class.new(StandardError)

    # deadline: the Time after which no test begins, or nil.
    def initialize(queue, reporter, deadline: nil)
      @queue = queue
      @reporter = reporter
      @deadline = deadline
      @left_out = 0
      @workers = []
      @crew = Crew.new
      @notes = []
      @costs = Costs.new
    end

    def run
      trap("TERM") { raise Interrupt }
      ForkServer.share if defined?(ForkServer)
      empty_queue
    ensure
      stop_workers
      ForkServer.unshare if defined?(ForkServer)
      @queue.timings.save
      puts "", *@notes, *@costs.to_a
      puts "#{@left_out} tests were left out: the time is up" if @left_out.positive?
      puts @crew.report, "#{Process.times.to_a.sum.round} s of processor time"
    end

    private

    def empty_queue
      loop do
        @left_out += @queue.clear if @deadline && Time.now > @deadline
        start_workers
        break if @workers.empty?

        listen
        @crew.adapt
      end
    end

    def start_workers
      while at_work < @crew.size && (suite = @queue.suite)
        @workers << Worker.new(suite, @workers)
      end
    end

    def at_work = @workers.count(&:at_work?)

    # Waits until one of them sends a message, ends, or hangs.
    def listen
      ready, = IO.select(@workers, nil, nil, 0.5)
      (ready || @workers.select(&:ended?)).each { |worker| receive(worker) }
      @workers.select { |worker| worker.seconds > LIMIT }.each { |worker| give_up(worker) }
    end

    def receive(worker)
      result, free = worker.report
      record(worker, result) if result
      assign(worker, free)
    rescue EOFError
      remove(worker)
    end

    # Its next test: from its suite, or from another one if it may leave its suite and is not one too many.
    def assign(worker, free)
      suite = worker.suite
      name = @queue.test(suite)
      if name.nil? && free && at_work <= @crew.size && (other = @queue.next_suite(suite))
        suite = other
        name = @queue.test(suite)
      end
      worker.next(suite, name)
    end

    def record(worker, result)
      @reporter.record(result)
      @costs.note(worker.suite, result)
      worker.count(result.metadata.values_at(:cpu, :late).sum)
      @queue.timings.note(worker.suite, result.name, result.time)
      return if result.passed? || result.skipped?

      puts "", result, *worker.said.each_line.map { |line| "  | #{line}" }
    end

    # The rest of its suite goes to other processes.
    def remove(worker, why = nil)
      @workers.delete(worker)
      @queue.leave(worker.suite)
      said = worker.said
      status, left = worker.finish(grace: why ? 0 : 5)
      record_broken(worker, why || "the process ended: #{status}", said) if why || worker.at_work? || !status.success?
      @costs.note_shared(worker.suite, worker.cpu - worker.counted)
      @notes << "#{worker.suite} left running: #{left.join(", ")}" if left.any?
    end

    def give_up(worker)
      worker.ask
      sleep 1
      remove(worker, "the test hangs: no end after #{LIMIT} s")
    end

    def record_broken(worker, why, said)
      result = Minitest::Result.new(worker.test || "(its end)")
      result.klass = worker.suite.name
      result.time = worker.seconds
      error = Broken.new("#{why}\n#{said}").tap { |broken| broken.set_backtrace([]) }
      result.failures << Minitest::UnexpectedError.new(error)
      puts "", result
      @reporter.record(result)
    end

    # Empty, unless we are interrupted.
    def stop_workers
      trap("INT", "IGNORE")
      @workers.each(&:interrupt)
      @workers.each(&:finish)
    ensure
      trap("INT", "DEFAULT")
    end
  end
end
