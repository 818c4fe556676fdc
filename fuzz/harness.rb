# frozen_string_literal: true

# What run.rb traces: loaded when Coverage runs, so that the target and what it tests have their branches counted.
require "tempfile"
require_relative "target"

module Fuzz
  # Hands a target's features to libFuzzer. It counts branches only, by file and line: so each feature takes a branch on
  # a line of its own, in a file made for that.
  module Features
    def self.branches
      file = Tempfile.create(["features", ".rb"])
      file.write("Fuzz::Features::BRANCHES = [\n", "->(on) { on ? 1 : 0 },\n" * FEATURES, "]\n")
      file.close
      require file.path
      BRANCHES
    ensure
      File.unlink(file.path)
    end

    def self.count(features)
      features.each { |feature| BRANCHES[feature].call(true) }
    end
  end
end

Fuzz::Features.branches
target = Fuzz.load_target($fuzz_target)

Ruzzy.fuzz(lambda do |octets|
  Fuzz::Features.count(Fuzz.run(target, octets))
  0
end)
