# frozen_string_literal: true

require "fileutils"
require "zlib"

# The fuzz targets in Ruby, each a module in the file of its name with
#
#   call(octets)  raises Violation where any octets at all break a property; returns its features, an Array of Strings
#   SEEDS         what fuzzing begins with
#   WORDS         what mutations put in
#
# Features are feedback beside the coverage of branches: regular expressions have no branches that a fuzzer sees, so a
# target says itself which kinds of input and of answer it has seen. An input with a new one is worth keeping.
module Fuzz
  # A property that an input broke.
  class Violation < StandardError; end

  # Processor time, which a program that is stopped or starved doesn't spend. Well below what an expression that
  # backtracks takes, and well above a pause of the garbage collector's.
  LONGEST = 1.0 # seconds

  # Numbers that features are told apart by; two may share one. It bounds what is kept.
  FEATURES = 4096

  class << self
    # The target's module.
    def load_target(name)
      require_relative name
      const_get(name.split("_").map(&:capitalize).join)
    end

    # The numbers of the target's features; raises for an input that breaks a property or takes long.
    def run(target, octets)
      began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      features = target.call(octets)
      spent = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began
      demand(spent <= LONGEST, "an input takes little time") { format("%.1f s", spent) }
      features.map { |feature| Zlib.crc32(feature) % FEATURES }
    end

    # +text+ by its kinds of octets: runs of digits are 9, of letters w, of what no field's grammar has ?.
    def shape(text, length)
      text[0, 4 * length].gsub(/\d+/n, "9").gsub(/[a-z]+/in, "w").gsub(%r{[^9w,:;="/* \t-]+}n, "?")[0, length]
    end

    # The block tells more.
    def demand(kept, property)
      raise Violation, ["not kept: #{property}", *(yield if block_given?)].join(": ") unless kept
    end

    # Writes directory/NAME/ with a file a seed, and directory/NAME.dict, libFuzzer's dictionary.
    def write_seeds(name, directory)
      target = load_target(name)
      FileUtils.mkdir_p("#{directory}/#{name}")
      target::SEEDS.each_with_index { |seed, index| File.binwrite(format("%s/%s/%03d", directory, name, index), seed) }
      words = target::WORDS.map { |word| "\"#{word.bytes.map { |octet| format("\\x%02x", octet) }.join}\"\n" }
      File.write("#{directory}/#{name}.dict", words.join)
    end
  end
end
