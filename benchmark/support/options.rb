# frozen_string_literal: true

module Bench
  # The command-line options of every benchmark.
  class Options
    attr_reader :rounds, :seconds, :seed, :patience, :cores, :command

    # rounds, seconds: the benchmark's own defaults. own: a Proc that adds the script's own options to the OptionParser.
    def initialize(arguments, name:, rounds:, seconds:, own: nil)
      @rounds = rounds
      @seconds = seconds
      @seed = Random.new_seed % 1_000_000
      @patience = 10
      @only = []
      @except = []
      @pins = {}
      @own = own
      @command = ["benchmark/#{name}", *arguments]
      parser(name).parse!(arguments)
      @cores = Bench.cores(**@pins)
    end

    # Whether the subject with that name is wanted. A word matches the names that contain it.
    def wants?(name)
      (@only.empty? || @only.any? { |word| name.include?(word) }) && @except.none? { |word| name.include?(word) }
    end

    def list?
      @list
    end

    private

    def parser(name)
      OptionParser.new("Usage: benchmark/#{name} [options]") do |on|
        procedure(on)
        on.on("--only NAMES", Array, "subjects whose name contains one of these words") { |names| @only = names }
        on.on("--except NAMES", Array, "no subject whose name contains one of these words") { |names| @except = names }
        on.on("--list", "name the subjects and the figures to reach, and measure nothing") { @list = true }
        @own&.call(on)
      end
    end

    def procedure(on)
      on.on("--rounds N", Integer, "rounds over all subjects (#{@rounds}); at least 5 to publish") { |n| @rounds = n }
      on.on("--seconds N", Integer, "seconds a run is measured (#{@seconds})") { |n| @seconds = n }
      on.on("--seed N", Integer, "seed of the order within the rounds") { |n| @seed = n }
      on.on("--server-core N", Integer, "core of the server (the first allowed)") { |n| @pins[:server] = n }
      on.on("--load-core N", Integer, "core of the load (the second allowed)") { |n| @pins[:load] = n }
      on.on("--patience N", Float, "seconds to wait, before each run, for a quiet machine (#{@patience})") do |n|
        @patience = n
      end
    end
  end
end
