# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require_relative "tools"
require_relative "totals"

# Runs fuzz targets and keeps account of it; rakelib/fuzz.rake says which there are.
module Fuzzing
  DIRECTORY = "tmp/fuzz"
  SEEDS = "#{DIRECTORY}/seeds"

  # A target, in C or in Ruby. The fuzzer is guided (libFuzzer) where the tools are there, and else a plain mutator with
  # the same options. A target that ends its process has found something.
  #
  # name::    of the file in fuzz/, without its extension
  # longest:: octets of an input at most
  class Target
    attr_reader :name

    def initialize(name, longest)
      @name = name
      @longest = longest
    end

    # Fuzzes for so many seconds, from the corpus on and into it. Returns the Totals; nil where an input broke a
    # property.
    def fuzz(seconds)
      FileUtils.mkdir_p(directory)
      began = [Process.clock_gettime(Process::CLOCK_MONOTONIC), cpu_of_children]
      output, success = execute(["-max_total_time=#{seconds}", "-max_len=#{@longest}",
                                 "-timeout=#{patience}", "-report_slow_units=#{patience}",
                                 "-print_final_stats=1", "-artifact_prefix=#{directory}-",
                                 *dictionary, directory, *seeds])
      ended = [Process.clock_gettime(Process::CLOCK_MONOTONIC), cpu_of_children]
      seconds, cpu_seconds = began.zip(ended).map { |from, to| to - from }
      totals.add(output, seconds: seconds, cpu_seconds: cpu_seconds) if success
    end

    # Runs inputs from files again. Whether all properties were kept.
    def replay(files)
      execute(["-artifact_prefix=#{DIRECTORY}/#{name}-", *files]).last
    end

    def totals
      Totals.new(name, "#{directory}.json")
    end

    # Inputs that broke a property, the newest last.
    def findings
      Dir["#{directory}-*"].sort_by { |file| File.mtime(file) }
    end

    private

    def directory
      File.join(ENV.fetch("CUTTLE_CORPUS", "#{DIRECTORY}/corpus"), name)
    end

    # Seconds after which an input counts as endless. A process that is stopped needs more; what merely takes long is
    # found by its processor time.
    def patience
      ENV.fetch("PATIENCE", "60")
    end

    def seeds
      Dir["#{SEEDS}/#{name}"]
    end

    def dictionary
      File.exist?("#{SEEDS}/#{words}.dict") ? ["-dict=#{SEEDS}/#{words}.dict"] : []
    end

    # [output, whether all properties were kept]
    def execute(arguments)
      output, status = Open3.capture2e(*command, *arguments, stdin_data: "")
      output.scrub!
      warn output unless status.success?
      [output, status.success?]
    end

    def cpu_of_children
      times = Process.times
      times.cutime + times.cstime
    end
  end

  # fuzz/NAME.c with these sources, compiled to tmp/fuzz/NAME by clang and to tmp/fuzz/NAME-mutate by the other.
  class NativeTarget < Target
    attr_reader :sources

    def initialize(name, longest, sources)
      super(name, longest)
      @sources = sources
    end

    def guided?
      Tools.clang?
    end

    def program
      "#{DIRECTORY}/#{name}"
    end

    def mutator
      "#{program}-mutate"
    end

    private

    def command
      [guided? ? program : mutator]
    end

    def dictionary
      guided? ? super : [] # the mutator has the words in it
    end

    def words
      "words"
    end
  end

  # fuzz/NAME.rb, a module of Fuzz.
  class RubyTarget < Target
    def guided?
      Tools.ruzzy?
    end

    def write_seeds
      FileUtils.mkdir_p(SEEDS)
      _, status = Open3.capture2e(RbConfig.ruby, "-Ilib", "fuzz/mutate.rb", name, "-seeds=#{SEEDS}")
      abort "fuzz: no seeds of #{name}" unless status.success?
    end

    private

    # Ruzzy without RubyGems, so that no bundle has a say in it.
    def command
      return [RbConfig.ruby, "-Ilib", "fuzz/mutate.rb", name] unless guided?

      environment = { "LD_PRELOAD" => Tools::PRELOADED, "RUBYOPT" => nil }
      [environment, RbConfig.ruby, "-I#{Tools::RUZZY_PATH}/lib", "-Ilib", "fuzz/run.rb", name]
    end

    def words
      name
    end
  end
end
