# frozen_string_literal: true

require "etc"
require_relative "costs"
require_relative "hand"
require_relative "queue"
require_relative "work"

module Runner
  # Keeps so many processes at work as asked for, until the queue is empty, and tells the reporter of each result.
  class Crew
    SIZE = Integer(ENV.fetch("CUTTLE_PROCESSES") { Etc.nprocessors * 3 })

    # Seconds after which a test hangs: its process says where its threads are, and is killed.
    LIMIT = Integer(ENV.fetch("CUTTLE_TEST_LIMIT", 300))

    # What became of a test that could not say so itself.
    Broken = Class.new(StandardError)

    def initialize(queue, reporter)
      @queue = queue
      @reporter = reporter
      @hands = []
      @notes = []
      @costs = Costs.new
    end

    def run
      trap("TERM") { raise Interrupt }
      loop do
        hire
        break if @hands.empty?

        attend
      end
    ensure
      dismiss
      @queue.timings.save
      puts "", *@notes, *@costs.to_a, "#{SIZE} at once, #{Process.times.to_a.sum.round} s of processor time"
    end

    private

    def hire
      while @hands.count(&:at_work?) < SIZE && (suite = @queue.suite)
        @hands << Hand.new(suite, @hands)
      end
    end

    # Waits for one of them to say something, to end, or to hang.
    def attend
      ready, = IO.select(@hands, nil, nil, 0.5)
      (ready || @hands.select(&:ended?)).each { |hand| hear(hand) }
      @hands.select { |hand| hand.seconds > LIMIT }.each { |hand| give_up(hand) }
    end

    def hear(hand)
      result, free = hand.report
      record(hand, result) if result
      assign(hand, free)
    rescue EOFError
      part_with(hand)
    end

    # Its next test: of its suite, or where it is free of that, of another one.
    def assign(hand, free)
      suite = hand.suite
      name = @queue.test(suite)
      if name.nil? && free && (other = @queue.next_suite(suite))
        suite = other
        name = @queue.test(suite)
      end
      hand.next(suite, name)
    end

    def record(hand, result)
      @reporter.record(result)
      @costs.note(hand.suite, result)
      hand.count(result.metadata[:cpu])
      @queue.timings.note(hand.suite, result.name, result.time)
      return if result.passed? || result.skipped?

      puts "", result, *hand.said.each_line.map { |line| "  | #{line}" }
    end

    # What is left of its suite is for other processes.
    def part_with(hand, why = nil)
      @hands.delete(hand)
      @queue.leave(hand.suite)
      said = hand.said
      status, left = hand.finish(grace: why ? 0 : 5)
      record_broken(hand, why || "the process ended: #{status}", said) if why || hand.at_work? || !status.success?
      @costs.note_shared(hand.suite, hand.cpu - hand.counted)
      @notes << "#{hand.suite} left running: #{left.join(", ")}" if left.any?
    end

    def give_up(hand)
      hand.ask
      sleep 1
      part_with(hand, "the test hangs: no end after #{LIMIT} s")
    end

    def record_broken(hand, why, said)
      result = Minitest::Result.new(hand.test || "(its end)")
      result.klass = hand.suite.to_s
      result.time = hand.seconds
      error = Broken.new("#{why}\n#{said}").tap { |broken| broken.set_backtrace([]) }
      result.failures << Minitest::UnexpectedError.new(error)
      puts "", result
      @reporter.record(result)
    end

    # Empty, unless we are interrupted.
    def dismiss
      trap("INT", "IGNORE")
      @hands.each(&:interrupt)
      @hands.each(&:finish)
    ensure
      trap("INT", "DEFAULT")
    end
  end
end
