# frozen_string_literal: true

require_relative "../fuzz/fuzzing"

# Fuzzing of all that reads what a client sent: the parsers in C, without Ruby and under AddressSanitizer and
# UndefinedBehaviorSanitizer, and static files' Ruby. fuzz/README.md tells more.
#
#   rake fuzz[head] SECONDS=600              goes on from the corpus in CUTTLE_CORPUS (tmp/fuzz/corpus), and adds to it
#   rake fuzz:smoke                          20 s of each target, after fuzz:setup
#   rake fuzz:setup                          clang and Ruzzy, where they are missing
#   rake fuzz:turns HOURS=8 SECONDS=300      all targets by turns, in the background for instance
#   rake fuzz:report                         what all runs came to
#   rake fuzz:replay[head,FILE]              runs an input again
#   rake sanitize:parser RUNS=1000000 SEED=2 units, and mutations with whatever C compiler there is
FUZZ_TARGETS = {}
FUZZ_FLAGS = %w[-std=gnu11 -O1 -g -Wall -Wextra -Iext/cuttle -fno-omit-frame-pointer -fno-sanitize-recover=all].freeze
FUZZ_COMPILER = RbConfig::CONFIG["CC"].split.first
FUZZ_SMOKE = 20 # seconds
FUZZ_SHARED = %w[fuzz/check.c fuzz/cases.c].freeze

# A program of these sources; the block's flags are those of its compiler.
def fuzz_program(path, sources, compiler, *flags, sanitizers: "address,undefined")
  file path => [*sources, *FileList["ext/cuttle/*.h", "fuzz/*.h"]] do
    mkdir_p Fuzzing::DIRECTORY, verbose: false
    sh compiler, *FUZZ_FLAGS, "-fsanitize=#{sanitizers}", *flags, "-o", path, *sources, verbose: false
  end
  path
end

# The target fuzz/NAME.c, which needs these +sources+. Inputs of up to +longest+ octets.
def native_target(name, sources, longest: 4096)
  target = FUZZ_TARGETS[name] = Fuzzing::NativeTarget.new(name, longest, FileList[sources])
  sources = ["fuzz/entry.c", "fuzz/#{name}.c", *FUZZ_SHARED, *target.sources]
  entry = "-DFUZZ_TARGET=fuzz_#{name}"
  fuzz_program(target.program, sources, "clang", entry, sanitizers: "fuzzer,address,undefined")
  fuzz_program(target.mutator, [FUZZ_MUTATE, *sources], FUZZ_COMPILER, entry, "-fsanitize-coverage=trace-pc")
end

# The target fuzz/NAME.rb.
def ruby_target(name, longest: 2048)
  FUZZ_TARGETS[name] = Fuzzing::RubyTarget.new(name, longest)
end

# Without what counts the edges, for it counts them.
FUZZ_MUTATE = fuzz_program("#{Fuzzing::DIRECTORY}/mutate.o", %w[fuzz/mutate.c], FUZZ_COMPILER, "-c")

# One line a target.
native_target "head", "ext/cuttle/{parser,target,syntax}.c", longest: 20_000
native_target "chunks", "ext/cuttle/{chunked,syntax}.c", longest: 20_000
native_target "response_head", "ext/cuttle/{response_head,reason,syntax}.c", longest: 20_000
native_target "proxy_header", "ext/cuttle/{proxy_header,trust}.c"
native_target "forwarded", "ext/cuttle/{forwarded,trust}.c"
ruby_target "ranges"
ruby_target "conditions"
ruby_target "paths"

native, ruby = FUZZ_TARGETS.values.partition { |target| target.is_a?(Fuzzing::NativeTarget) }
fuzz_seeds = fuzz_program("#{Fuzzing::DIRECTORY}/seeds-of-c", %w[fuzz/seeds.c fuzz/cases.c], FUZZ_COMPILER)
fuzz_natives = native.flat_map { |target| ["fuzz/#{target.name}.c", *target.sources] }.uniq
FUZZ_UNITS = ["fuzz/units.c", *FUZZ_SHARED, *fuzz_natives, "ext/cuttle/ledger.c"].freeze
fuzz_units = fuzz_program("#{Fuzzing::DIRECTORY}/units", FUZZ_UNITS, FUZZ_COMPILER)

# Makes everything that the targets need, and returns them.
def fuzz_ready(targets)
  Rake::Task["fuzz:seeds"].invoke
  Rake::Task["compile"].invoke if targets.grep(Fuzzing::RubyTarget).any?
  targets.grep(Fuzzing::NativeTarget).each do |target|
    Rake::Task[target.guided? ? target.program : target.mutator].invoke
  end
  targets.reject(&:guided?).each do |target|
    warn "fuzz: #{target.name} by our own mutator, for #{Fuzzing::Tools.missing.join}; rake fuzz:setup"
  end
end

def fuzz_target(name)
  FUZZ_TARGETS.fetch(name) { abort "fuzz: no target #{name.inspect}; there are #{FUZZ_TARGETS.keys.join(", ")}" }
end

def fuzz_for(target, seconds)
  totals = target.fuzz(seconds) or abort "fuzz: #{target.name} broke a property by #{target.findings.last}"
  puts totals
end

desc "Fuzz one of #{FUZZ_TARGETS.keys.join(", ")} for SECONDS (60)"
task :fuzz, [:target] do |_, arguments|
  target = fuzz_target(arguments.fetch(:target) { FUZZ_TARGETS.keys.first })
  fuzz_ready([target])
  fuzz_for(target, Integer(ENV.fetch("SECONDS", "60"), 10))
end

namespace :fuzz do
  desc "Fuzz each target for #{FUZZ_SMOKE} s"
  task smoke: :setup do
    fuzz_ready(FUZZ_TARGETS.values)
    FUZZ_TARGETS.each_value { |target| fuzz_for(target, FUZZ_SMOKE) }
  end

  # Goes on with the other targets when one finds something. A line a turn, with what all runs of the target came to.
  desc "Fuzz all targets by turns of SECONDS (300) for HOURS (1)"
  task :turns do
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3600 * Float(ENV.fetch("HOURS", "1"))
    fuzz_ready(targets = FUZZ_TARGETS.values)
    $stdout.sync = true
    targets.cycle do |target|
      break if Process.clock_gettime(Process::CLOCK_MONOTONIC) >= ends

      totals = target.fuzz(Integer(ENV.fetch("SECONDS", "300"), 10))
      puts "#{Time.now.utc.strftime("%F %T")} #{totals || "#{target.name} broke a property by #{target.findings.last}"}"
    end
  end

  desc "Install what guided fuzzing needs"
  task :setup do
    Fuzzing::Tools.set_up
    Fuzzing::Tools.missing.each { |line| warn "fuzz: #{line}" }
  end

  desc "Print what all runs of the targets came to"
  task :report do
    totals = FUZZ_TARGETS.each_value.map(&:totals)
    puts totals, format("all: %d executions in %.2f h of processor time", totals.sum(&:executions),
                        totals.sum(&:cpu_seconds) / 3600.0)
  end

  desc "Run inputs of a target again: rake fuzz:replay[head,FILE]"
  task :replay, [:target] do |_, arguments|
    target = fuzz_target(arguments.fetch(:target))
    fuzz_ready([target])
    target.replay(arguments.extras) || abort("fuzz: a property is broken")
    puts "#{target.name}: #{arguments.extras.size} inputs keep all properties"
  end

  task seeds: fuzz_seeds do
    mkdir_p Fuzzing::SEEDS, verbose: false
    sh fuzz_seeds, Fuzzing::SEEDS, verbose: false
    ruby.each(&:write_seeds)
  end
end

desc "Run the parsers' units and mutations of their cases under AddressSanitizer and UndefinedBehaviorSanitizer"
task "sanitize:parser" => [fuzz_units, "fuzz:seeds", *native.map(&:mutator)] do
  sh fuzz_units, verbose: false
  native.each do |target|
    sh target.mutator, "-runs=#{ENV.fetch("RUNS", "100000")}", "-seed=#{ENV.fetch("SEED", "1")}", "-max_len=4096",
       "-artifact_prefix=#{Fuzzing::DIRECTORY}/", "-keep=0", *Dir["#{Fuzzing::SEEDS}/#{target.name}"], verbose: false
  end
end

task sanitize: "sanitize:parser"
