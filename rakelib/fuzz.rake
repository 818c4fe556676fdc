# frozen_string_literal: true

# The native parser alone, without Ruby, under AddressSanitizer and UndefinedBehaviorSanitizer: its units, a bounded run
# of seeded mutations (any C compiler), and libFuzzer (clang).
#
#   rake sanitize:parser INPUTS=1000000 SEED=2
#   rake fuzz SECONDS=600        keeps what it finds in tmp/fuzz/corpus, and goes on from there
#   tmp/fuzz/mutate FILE…        runs inputs that libFuzzer kept again
FUZZ = "tmp/fuzz"

PARSER_SOURCES = FileList["ext/cuttle/{parser,target,syntax,chunked}.c", "fuzz/{check,cases}.c"]
FUZZ_FLAGS = %w[-std=gnu11 -O1 -g -Wall -Wextra -Iext/cuttle -fno-omit-frame-pointer -fno-sanitize-recover=all].freeze

# A program of the parser and these sources, with these sanitizers.
def fuzz_program(name, sources, compiler: RbConfig::CONFIG["CC"].split.first, sanitizers: "address,undefined")
  file "#{FUZZ}/#{name}" => [*PARSER_SOURCES, *sources, *FileList["ext/cuttle/*.h", "fuzz/*.h"]] do |task|
    mkdir_p FUZZ, verbose: false
    sh compiler, *FUZZ_FLAGS, "-fsanitize=#{sanitizers}", "-o", task.name, *PARSER_SOURCES, *sources, verbose: false
  end
  "#{FUZZ}/#{name}"
end

units = fuzz_program("units", %w[fuzz/units.c])
mutate = fuzz_program("mutate", %w[fuzz/mutate.c fuzz/parser_fuzz.c])
libfuzzer = fuzz_program("libfuzzer", %w[fuzz/parser_fuzz.c], compiler: "clang", sanitizers: "fuzzer,address,undefined")

desc "Run the native parser's units and mutations of them under AddressSanitizer and UndefinedBehaviorSanitizer"
task "sanitize:parser" => [units, mutate] do
  sh units, verbose: false
  sh mutate, ENV.fetch("INPUTS", "300000"), ENV.fetch("SEED", "1"), verbose: false
end

task sanitize: "sanitize:parser"

desc "Fuzz the native parser with libFuzzer (needs clang)"
task fuzz: libfuzzer do
  mkdir_p "#{FUZZ}/corpus", verbose: false
  sh libfuzzer, "-max_total_time=#{ENV.fetch("SECONDS", "60")}", "-max_len=4096", "-artifact_prefix=#{FUZZ}/",
     "#{FUZZ}/corpus", verbose: false
end
