# frozen_string_literal: true

require "rbconfig"
require "tmpdir"

# Libraries in C that tests preload into servers, so that system calls behave as a test needs.
module Preload
  LOCK = Mutex.new

  class << self
    # The library compiled from +source+, once per run; nil without Linux or a compiler.
    def library(source)
      LOCK.synchronize do
        @libraries ||= {}
        @libraries.fetch(source) { @libraries[source] = compile(source) }
      end
    end

    # Variables for a server's environment, in addition to what is preloaded into all.
    def env(source) = { "LD_PRELOAD" => [ENV["LD_PRELOAD"], library(source)].compact.join(" ") }

    private

    def compile(source)
      return unless RUBY_PLATFORM.include?("linux")

      directory = Dir.mktmpdir("cuttle-preload")
      Minitest.after_run { FileUtils.remove_entry(directory) }
      path = "#{directory}/#{File.basename(source, ".c")}.so"
      path if system(RbConfig::CONFIG["CC"].split.first, "-shared", "-fPIC", "-O1", "-o", path, source, "-ldl")
    end
  end
end
