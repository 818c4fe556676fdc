# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "../bin/support/packages"

module Fuzzing
  # What guided fuzzing needs beyond the C compiler: clang with its runtime libraries, and for targets in Ruby the gem
  # ruzzy. That is no dependency of ours, in no gemspec and no Gemfile: rake fuzz:setup puts it below tmp/.
  module Tools
    RUZZY = "0.8.0"
    GEMS = File.expand_path("../tmp/fuzz/gems", __dir__)
    RUZZY_PATH = "#{GEMS}/gems/ruzzy-#{RUZZY}"

    # libFuzzer with UndefinedBehaviorSanitizer's runtime. AddressSanitizer's has nothing to watch in Ruby code, and
    # takes half of the speed.
    PRELOADED = "#{RUZZY_PATH}/ext/cruzzy/ubsan_with_fuzzer.so"

    class << self
      # Whether clang can link libFuzzer and AddressSanitizer.
      def clang?
        return @clang if @clang

        @clang = %w[fuzzer asan].all? { |library| Dir["#{runtime}/libclang_rt.#{library}{,-#{processor}}.a"].any? }
      end

      def ruzzy?
        clang? && File.exist?(PRELOADED)
      end

      # Installs what is missing, as far as it may.
      def set_up
        return unless Packages.install?

        install_clang unless clang?
        install_ruzzy if clang? && !ruzzy?
      end

      # Lines, each naming what is missing and what it is for.
      def missing
        return ["clang with its runtime (Debian: clang, libclang-rt-VERSION-dev) is missing"] unless clang?

        ruzzy? ? [] : ["the gem ruzzy #{RUZZY} is missing in #{GEMS}"]
      end

      private

      def processor
        RbConfig::CONFIG["host_cpu"]
      end

      # The directory of clang's runtime libraries; nil without clang.
      def runtime
        path, status = Open3.capture2("clang", "-print-file-name=libclang_rt.fuzzer-#{processor}.a", err: File::NULL)
        path.include?("/") && status.success? ? File.dirname(path.chomp) : print_runtime_directory
      rescue Errno::ENOENT
        nil
      end

      def print_runtime_directory
        path, status = Open3.capture2("clang", "-print-runtime-dir", err: File::NULL)
        path.chomp if status.success?
      end

      # Debian names the runtime's package after clang's version.
      def install_clang
        return if Packages.install([Packages.program("clang", "clang", "to fuzz")]).any?

        version, = Open3.capture2("clang", "-dumpversion")
        Packages.install([Packages::Package.new("libclang-rt-#{version[/\A\d+/]}-dev", "to fuzz", -> { clang? })])
      end

      # Its extension has to be made by the clang whose libFuzzer it takes in.
      def install_ruzzy
        environment = { "MAKE" => "make --environment-overrides V=1", "CC" => "clang", "CXX" => "clang++",
                        "LDSHARED" => "clang -shared", "LDSHAREDXX" => "clang++ -shared", "RUBYOPT" => nil }
        warn "fuzz: installing the gem ruzzy #{RUZZY} below #{GEMS}"
        output, status = Open3.capture2e(environment, "gem", "install", "ruzzy", "--version", RUZZY,
                                         "--install-dir", GEMS, "--no-document")
        warn output unless status.success?
      end
    end
  end
end
