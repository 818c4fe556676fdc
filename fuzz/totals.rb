# frozen_string_literal: true

require "json"

module Fuzzing
  # What one target's runs came to, all together: NAME.json beside its corpus. Written after each run, so that one which
  # is killed adds nothing.
  class Totals
    # +file+ may not exist yet.
    def initialize(name, file)
      @name = name
      @file = file
      @values = File.exist?(file) ? JSON.parse(File.read(file)) : {}
    end

    # +output+: of libFuzzer, or of a mutator that ends in the same lines; +seconds+ passed, +cpu_seconds+ of processor
    # time were spent: less, where the run was stopped or shared its processor.
    def add(output, seconds:, cpu_seconds:)
      executions = output[/number_of_executed_units: *(\d+)/, 1].to_i
      count("runs", 1)
      count("executions", executions)
      count("seconds", seconds.round(1))
      count("cpu_seconds", cpu_seconds.round(1))
      edges, features, inputs = output.scan(/cov: (\d+) ft: (\d+) corp: (\d+)/).last&.map(&:to_i)
      @values.merge!("edges" => edges, "features" => features, "inputs" => inputs) if edges
      @last = "#{executions} executions in #{seconds.round} s"
      write
      self
    end

    # In seconds of processor time, and executions.
    def cpu_seconds
      @values.fetch("cpu_seconds", 0)
    end

    def executions
      @values.fetch("executions", 0)
    end

    def to_s
      return "#{@name}: never run" if @values.empty?

      "#{@name}: #{"#{@last}; " if @last}#{@values["edges"]} edges, #{@values["features"]} features, " \
        "#{@values["inputs"]} inputs; over all #{@values["runs"]} runs #{executions} executions in " \
        "#{hours("cpu_seconds")} h of processor time (#{hours("seconds")} h passed)"
    end

    private

    def count(key, more)
      @values[key] = (@values.fetch(key, 0) + more).round(1)
    end

    def hours(key)
      format("%.2f", @values.fetch(key, 0) / 3600.0)
    end

    # By a rename, for a run may be killed at any time.
    def write
      File.write("#{@file}.new", "#{JSON.pretty_generate(@values)}\n")
      File.rename("#{@file}.new", @file)
    end
  end
end
