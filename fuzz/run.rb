# frozen_string_literal: true

# Fuzzes a target in Ruby with Ruzzy, which is libFuzzer guided by the branches that Ruby's Coverage sees:
#
#   LD_PRELOAD=… ruby -Ilib fuzz/run.rb NAME [libFuzzer's options, directories and files]
#
# rakelib/fuzz.rake knows what to preload, and where Ruzzy is. A target that raises ends the process, and libFuzzer then
# writes the input.
$fuzz_target = ARGV.shift

# libFuzzer takes a signal only if nobody else has. Ruby ends at SIGALRM, by which libFuzzer looks for endless inputs.
%w[ALRM INT TERM].each { |name| trap(name, "SYSTEM_DEFAULT") }

require "ruzzy"

Ruzzy.trace(File.expand_path("harness.rb", __dir__))
