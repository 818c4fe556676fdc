# frozen_string_literal: true

require_relative "../test/support/preload"

# The extension built with AddressSanitizer and UndefinedBehaviorSanitizer, and the tests that go through it.
# Leaks are not looked for: Ruby frees nothing at its end.
SANITIZED = "tmp/sanitized"

# Everything that reaches the native code within the tests' process or a server's, once: the rest of clusters and static
# files, and the parsers that are Ruby, run none that these don't.
SANITIZED_TESTS = FileList["test/{contracts,engines,http,rack,load,tls}/**/test_*.rb",
                           "test/cluster/test_scoreboard.rb", "test/static/test_{beneath,serving}.rb"]
                  .exclude("test/contracts/test_recognizer.rb", "test/contracts/test_testers.rb",
                           "test/load/test_*_in_chromium.rb") # a browser, in which no sanitizer can be loaded
SANITIZED_OPTIONS = ["--exclude", "/TestPureParser/"].freeze

# What a fork needs under AddressSanitizer.
SANITIZED_FORK = File.expand_path("../test/support/sanitizer/fork.c", __dir__)

namespace :sanitize do
  task :environment do
    ENV["CUTTLE_SANITIZE"] = "1"
  end

  EXTENSIONS.each do |library, source|
    target = "#{SANITIZED}/#{library.delete_prefix("lib/")}#{LIBRARY}"
    task compile: [:environment, extension(target, source, "-sanitized")]
  end
end

desc "Run the tests that reach the extension with it built for AddressSanitizer and UndefinedBehaviorSanitizer"
task "sanitize:core" => "sanitize:compile" do
  runtime = `#{RbConfig::CONFIG["CC"]} -print-file-name=libasan.so`.chomp
  abort "sanitize: #{RbConfig::CONFIG["CC"]} has no AddressSanitizer" unless File.exist?(runtime)

  environment = {
    "LD_PRELOAD" => [runtime, Preload.library(SANITIZED_FORK)].compact.join(" "),
    "CUTTLE_EXTENSION" => File.expand_path(SANITIZED), "CUTTLE_SANITIZE" => "1",
    "ASAN_OPTIONS" => "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:abort_on_error=1",
    "UBSAN_OPTIONS" => "print_stacktrace=1"
  }
  files = SANITIZED_TESTS.map { |file| "require #{File.expand_path(file).inspect}" }
  sh environment, RbConfig.ruby, "-Itest", "-Ilib", "-rrunner", "-e", files.join("; "), "--", *SANITIZED_OPTIONS,
     verbose: false
end

# The loop with real threads and without Ruby: fuzz/loop_threads.c. What mkmf finds out is known here.
LOOP_SOURCES = FileList["fuzz/{loop_threads,loop_clients,loop_poller,check}.c", "ext/cuttle/*.c"]
               .exclude("ext/cuttle/rb_*.c", "ext/cuttle/beneath*.c")
LOOP_FLAGS = ["-D_GNU_SOURCE", "-Wno-unused-parameter", "-pthread",
              *("-DHAVE_ACCEPT4" if RUBY_PLATFORM.include?("linux")), "-DHAVE_PTHREAD_GETCPUCLOCKID"].freeze
LOOP_SANITIZERS = %w[thread address,undefined].freeze

loop_programs = LOOP_SANITIZERS.map do |sanitizers|
  path = "#{Fuzzing::DIRECTORY}/loop_threads-#{sanitizers.tr(",", "-")}"
  fuzz_program(path, LOOP_SOURCES, FUZZ_COMPILER, *LOOP_FLAGS, sanitizers: sanitizers)
end

# The spooler's queue: fuzz/spool.c, which has a disk of its own.
spool_programs = LOOP_SANITIZERS.map do |sanitizers|
  path = "#{Fuzzing::DIRECTORY}/spool-#{sanitizers.tr(",", "-")}"
  fuzz_program(path, %w[fuzz/spool.c ext/cuttle/spool.c ext/cuttle/spool_stream.c], FUZZ_COMPILER, *LOOP_FLAGS,
               sanitizers: sanitizers)
end

desc "Run the loop with real threads under ThreadSanitizer, then AddressSanitizer, for SECONDS (20) each with SEED (1)"
task "sanitize:threads" => spool_programs + loop_programs do
  environment = { "TSAN_OPTIONS" => "halt_on_error=1" }
  spool_programs.each { |program| sh environment, program, verbose: false }
  arguments = [ENV.fetch("SECONDS", "20"), ENV.fetch("SEED", "1")]
  loop_programs.each { |program| sh environment, program, *arguments, verbose: false }
end

task sanitize: "sanitize:threads"

desc "Run everything there is under AddressSanitizer and UndefinedBehaviorSanitizer"
task sanitize: "sanitize:core"
