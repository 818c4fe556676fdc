# frozen_string_literal: true

require_relative "target"

module Fuzz
  # A fuzzer for targets in Ruby where Ruzzy is missing, with the same options and closing line: mutates inputs and
  # keeps those with features that none had before. It sees no branches.
  #
  #   ruby -Ilib fuzz/mutate.rb NAME [-runs=N] [-max_total_time=SECONDS] [-seed=N] DIRECTORY…   the first is written to
  #   ruby -Ilib fuzz/mutate.rb NAME FILE…                                                      runs these inputs again
  #   ruby -Ilib fuzz/mutate.rb NAME -seeds=DIRECTORY                                           see Fuzz.write_seeds
  class Mutator
    LONGEST = 4096 # octets
    MUTATIONS = 5  # at once, at most

    attr_reader :runs

    # +directory+ gets what is kept; nil: nothing is written
    def initialize(target, seed: 1, directory: nil)
      @target = target
      @random = Random.new(seed)
      @directory = directory
      @seen = {}
      @corpus = []
      @runs = 0
    end

    # Runs +octets+, and keeps them where they are new. An input that breaks a property is in the message.
    def try(octets, write: true)
      @runs += 1
      features = Fuzz.run(@target, octets)
      fresh = features.reject { |feature| @seen.key?(feature) }
      return if fresh.empty?

      fresh.each { |feature| @seen[feature] = true }
      @corpus << octets
      keep(octets) if write && @directory
    rescue StandardError => error
      where = error.backtrace.first(5).join("\n")
      raise Violation, "#{error.message} (#{error.class})\nby: #{octets.inspect}\n#{where}"
    end

    # Mutates for as long as the block is true.
    def mutate
      try("".b) if @corpus.empty?
      try(mutant) while yield
    end

    def summary
      "##{@runs}\tDONE   cov: #{@seen.size} ft: #{@seen.size} corp: #{@corpus.size}\n" \
        "stat::number_of_executed_units: #{@runs}"
    end

    private

    def keep(octets)
      File.binwrite(format("%s/%08x-%d", @directory, Zlib.crc32(octets), octets.bytesize), octets)
    end

    def mutant
      octets = pick(@corpus).b
      rand(1..MUTATIONS).times { octets = change(octets) }
      octets[0, LONGEST]
    end

    def change(octets)
      at = rand(0..octets.bytesize)
      case rand(0..9)
      when 0 then octets[0, at] + octets[at + rand(1..4)..].to_s
      when 1 then octets[0, at] + rand(0..255).chr + octets[at + 1..].to_s
      when 2 then octets[0, at] + octets[rand(0..octets.bytesize)..] # from elsewhere on
      when 3 then octets[0, at] + pick(@corpus).b.then { |other| other[rand(0..other.bytesize)..] }
      else octets[0, at] + pick(@target::WORDS).b + octets[at..]
      end
    end

    def pick(choices)
      choices[@random.rand(choices.size)]
    end

    def rand(range)
      @random.rand(range)
    end

    # The command line.
    class << self
      def main(name, arguments)
        options, paths = arguments.partition { |argument| argument.start_with?("-") }
        options = options.to_h { |option| option.delete_prefix("-").split("=", 2) }
        return Fuzz.write_seeds(name, options["seeds"]) if options["seeds"]

        directories, files = paths.partition { |path| File.directory?(path) }
        mutator = new(Fuzz.load_target(name), seed: options.fetch("seed", 1).to_i, directory: directories.first)
        return files.each { |file| mutator.try(File.binread(file), write: false) } if files.any?

        fuzz(mutator, directories, options)
      end

      private

      def fuzz(mutator, directories, options)
        directories.flat_map { |directory| Dir["#{directory}/*"] }
                   .each { |file| mutator.try(File.binread(file), write: false) }
        ends = now + options.fetch("max_total_time", 60).to_i
        runs = options["runs"]&.to_i
        mutator.mutate { runs ? (runs -= 1) >= 0 : now < ends }
        puts mutator.summary
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end

Fuzz::Mutator.main(ARGV.shift, ARGV) if $PROGRAM_NAME == __FILE__
