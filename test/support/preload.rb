# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "rbconfig"

# Libraries in C that tests preload into servers, so that system calls behave as a test needs.
module Preload
  LOCK = Mutex.new

  # Where they are kept, for the next process as well.
  DIRECTORY = File.expand_path("../../tmp/preload", __dir__)

  class << self
    # The library compiled from +source+; nil without Linux or a compiler.
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

      compiler = RbConfig::CONFIG["CC"].split.first
      digest = Digest::SHA256.hexdigest(compiler + File.read(source))[0, 16]
      path = "#{DIRECTORY}/#{File.basename(source, ".c")}-#{digest}.so"
      return path if File.exist?(path)

      FileUtils.mkdir_p(DIRECTORY)
      own = "#{path}.#{Process.pid}" # other processes may compile it at the same time
      return unless system(compiler, "-shared", "-fPIC", "-O1", "-o", own, source, "-ldl")

      File.rename(own, path)
      path
    end
  end
end
