# frozen_string_literal: true

# What can be checked here of platforms that this machine isn't (docs/platforms.md).
#
#   rake platforms             everything below; a compiler that is missing is named, and what needs it left out
#   rake platforms:elsewhere   the extension as on a system that isn't Linux, and its contract suites
#   rake platforms:arm64       all C by a cross-compiler; what needs no Ruby also runs, in an emulator
#   rake platforms:musl        all C against musl; what needs no Ruby also runs
#
# Units and loops run for SECONDS (5) each.
PLATFORMS = "tmp/platforms"
PLATFORM_FLAGS = %w[-std=gnu11 -g -Wall -Wextra -Wno-unused-parameter -Werror -pthread -D_GNU_SOURCE
                    -DHAVE_ACCEPT4 -DHAVE_PTHREAD_GETCPUCLOCKID -DHAVE_RB_HASH_NEW_CAPA].freeze
PLATFORM_RUBY = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |directory| "-I#{directory}" }.freeze

# +compiler+ is a command, +emulator+ what runs its programs (or none), and +packages+ are Debian's with both.
Platform = Struct.new(:name, :compiler, :emulator, :packages, keyword_init: true) do
  include Rake::FileUtilsExt

  def missing
    [compiler, emulator.first].compact.reject { |command| which?(command) }
  end

  def directory = "#{PLATFORMS}/#{name}"

  # Objects of all C in ext/. Those of Ruby's half are compiled against the headers of the Ruby at hand, and go nowhere.
  def compile
    EXTENSIONS.each_value do |source|
      mkdir_p "#{directory}/#{source}", verbose: false
      FileList["#{source}/*.c"].each do |file|
        sh compiler, *PLATFORM_FLAGS, "-O2", *PLATFORM_RUBY, "-c", "-o", "#{directory}/#{file.ext("o")}", file,
           verbose: false
      end
    end
  end

  # Runs the program of these sources with +arguments+.
  def run(program, sources, *arguments)
    path = "#{directory}/#{program}"
    sh compiler, *PLATFORM_FLAGS, "-O1", "-Iext/cuttle", "-o", path, *sources, verbose: false
    sh(*emulator, path, *arguments, verbose: false)
  end

  private

  def which?(command)
    ENV.fetch("PATH").split(File::PATH_SEPARATOR).any? { |directory| File.executable?("#{directory}/#{command}") }
  end
end

CROSS_PLATFORMS = [
  Platform.new(name: "arm64", compiler: "aarch64-linux-gnu-gcc", emulator: %w[qemu-aarch64 -L /usr/aarch64-linux-gnu],
               packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"),
  Platform.new(name: "musl", compiler: "musl-gcc", emulator: [], packages: "musl-tools")
].freeze

CROSS_PLATFORMS.each do |platform|
  desc "Compile all C for #{platform.name}, and run what needs no Ruby"
  task "platforms:#{platform.name}" do
    if platform.missing.any?
      puts "#{platform.name}: not checked: no #{platform.missing.join(", ")} here; Debian's packages " \
           "#{platform.packages} have them"
      next
    end
    platform.compile
    platform.run("units", FUZZ_UNITS)
    platform.run("loop_threads", LOOP_SOURCES, ENV.fetch("SECONDS", "5"), ENV.fetch("SEED", "1"))
  end
  task platforms: "platforms:#{platform.name}"
end

# The extension without Linux's calls: test/platforms/elsewhere.h makes a use without a guard an error.
ELSEWHERE = "#{PLATFORMS}/elsewhere"
ELSEWHERE_FLAGS = %w[-O1 -g -fPIC -Werror -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -include]
                  .push(File.expand_path("../test/platforms/elsewhere.h", __dir__)).join(" ").freeze
ELSEWHERE_TESTS = FileList["test/contracts/test_engines.rb", "test/static/test_{beneath,serving}.rb"]

elsewhere = extension("#{ELSEWHERE}/cuttle/core#{LIBRARY}", "ext/cuttle", "-elsewhere",
                      arguments: ["--with-cflags=#{ELSEWHERE_FLAGS}"])

desc "Build the extension without what only Linux has, and run the contract suites over it"
task "platforms:elsewhere" => [:compile, elsewhere] do
  files = ELSEWHERE_TESTS.map { |file| "require #{File.expand_path(file).inspect}" }
  sh({ "CUTTLE_EXTENSION" => File.expand_path(ELSEWHERE), "CUTTLE_ELSEWHERE" => "1" }, RbConfig.ruby,
     "-Itest", "-Ilib", "-rrunner", "-e", files.join("; "), verbose: false)
end

desc "Check what can be checked here of other platforms"
task platforms: "platforms:elsewhere"
