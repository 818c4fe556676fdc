# frozen_string_literal: true

require_relative "../../benchmark/support/bench"
require_relative "../../test/support/wire_client"
require_relative "soak/honest"
require_relative "soak/vandals"
require_relative "soak/watch"
require_relative "soak/verdict"
require_relative "soak/trial"

# Honest, slow, hostile and aborted traffic at once on one engine after the other. What honest clients may see is right
# answers only; what the server may keep of all that is nothing.
module Soak
  # slow: clients that drip or don't read. A blocking engine gives each a thread, or has but one for all: it is not
  # made to stand those, but behind a proxy.
  Engine = Struct.new(:name, :flags, :slow, keyword_init: true)
  ENGINES = [
    Engine.new(name: "single", flags: %w[--engine single], slow: 0),
    Engine.new(name: "threads", flags: %w[--engine threads -t 0], slow: 100),
    Engine.new(name: "reactor", flags: %w[--engine reactor], slow: 300),
    Engine.new(name: "hybrid", flags: %w[-t 5:5], slow: 300),
    Engine.new(name: "fibers", flags: %w[--engine fibers], slow: 300),
    Engine.new(name: "ractors", flags: %w[--engine ractors -w 0 --ractors 2 -t 3:3], slow: 300)
  ].freeze

  HEADINGS = ["engine", "honest/s", "errors", "vandals/s", "slow held", "slow closed", "RSS MB", "KB/min",
              "descriptors", "threads", "end s", "verdict"].freeze
  UNTRIMMED = "--untrimmed" # RSS with the memory that is free, but that malloc holds
  USAGE = "Usage: bin/soak MINUTES [#{UNTRIMMED}] [ENGINE …]   (#{ENGINES.map(&:name).join(" ")})"

  class << self
    # Returns whether every engine passed.
    def run(arguments)
      trim = !arguments.include?(UNTRIMMED)
      seconds, engines = parse(arguments - [UNTRIMMED])
      Bench::Lab::Runner::Lock.hold do
        trials = engines.map { |engine| Trial.new(engine, seconds, trim: trim).run.tap { |trial| tell(trial) } }
        puts "", table(trials)
        trials.all? { |trial| trial.verdict.faults.empty? }
      end
    end

    private

    def parse(arguments)
      minutes, *names = arguments
      seconds = Float(minutes.to_s, exception: false).to_f * 60
      engines = names.empty? ? ENGINES : names.map { |name| ENGINES.find { |engine| engine.name == name } }
      abort USAGE unless seconds.positive? && engines.all?

      [seconds, engines.select { |engine| available?(engine) }]
    end

    def available?(engine)
      reason = Cuttle::Engines.unavailable(engine.name) or return true
      warn "#{engine.name} #{reason}"
    end

    def tell(trial)
      verdict = trial.verdict
      puts "#{trial.engine.name}: #{verdict.faults.empty? ? "passed" : "FAILED"}"
      [*verdict.faults, *verdict.doubts.map { |doubt| "doubtful: #{doubt}" }].each { |line| puts "  #{line}" }
    end

    def table(trials)
      Cuttle::Report::Columns.align([HEADINGS, *trials.map(&:row)].map { |cells| cells.map(&:to_s) }, left: [])
    end
  end
end
