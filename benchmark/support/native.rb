# frozen_string_literal: true

module Bench
  # Compiles one of the benchmarks' own C programs into tmp/, when its source is newer.
  module Native
    # Returns the program's path.
    def self.compile(source)
      program = File.join(TMP, File.basename(source, ".c"))
      return program if File.exist?(program) && File.mtime(program) > File.mtime(source)

      FileUtils.mkdir_p(TMP)
      system("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-o", program, source) or raise "gcc could not compile #{source}"
      program
    end
  end
end
