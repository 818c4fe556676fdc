# frozen_string_literal: true

# The extension built with AddressSanitizer and UndefinedBehaviorSanitizer, and the tests that go through it.
# Leaks are not looked for: Ruby frees nothing at its end.
SANITIZED = "tmp/sanitized"

# Everything that reaches the native code within the tests' process or a server's. What only takes long is left out.
SANITIZED_TESTS = "test/{contracts,engines,http,rack,static,cluster,load}/**/test_*.rb"

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
    "LD_PRELOAD" => runtime, "CUTTLE_CORE" => File.expand_path(SANITIZED), "CUTTLE_SANITIZE" => "1",
    "ASAN_OPTIONS" => "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:abort_on_error=1",
    "UBSAN_OPTIONS" => "print_stacktrace=1"
  }
  files = Dir[SANITIZED_TESTS].map { |file| "require #{File.expand_path(file).inspect}" }
  sh environment, RbConfig.ruby, "-Itest", "-Ilib", "-e", files.join("; "), verbose: false
end

desc "Run everything there is under AddressSanitizer and UndefinedBehaviorSanitizer"
task sanitize: "sanitize:core"
