# frozen_string_literal: true

require "fileutils"
require "json"

# Results of a study that never ran, as its lab would have written them.
class StudiedLab
  Lines = Struct.new(:header, :records, :damages)

  # All of them, whatever this machine has.
  module Testers
    Here = Struct.new(:unavailable)

    def self.find(_name)
      Here.new
    end
  end

  # missing: name of a server that is not here. run: what each run has beside. precision: what the results ask for.
  # environment: further facts about the machine.
  # The block gets (configuration's Hash, load's Hash, block) and returns [rate, { "p50" => milliseconds, … }], and what
  # else that run has.
  def initialize(study, scale: 1, blocks: 3, cores: 2, missing: nil, run: {}, precision: nil, environment: {}, &value)
    @missing = missing
    @run = run
    @precision = precision
    @environment = environment
    @study = study
    @scale = Cuttle::Studies::Scale.new(scale)
    @blocks = blocks
    @cores = cores
    @value = value
  end

  def findings
    Cuttle::Studies::Findings.new(@study, @scale, results)
  end

  def results
    Cuttle::Lab::Results.new(Lines.new(header, runs + missing, []), "made-up/results.jsonl")
  end

  # Its results file, in a directory that is made; returns that. more: further lines. ended: whether it came to its end.
  def write(directory, more: [], ended: true)
    FileUtils.mkdir_p(directory)
    lines = [header, *missing, *runs, *more, ({ "type" => "end", "interrupted" => false } if ended)].compact
    File.write("#{directory}/results.jsonl", lines.map { |line| "#{JSON.generate(line)}\n" }.join)
    directory
  end

  private

  def plan
    @plan ||= Cuttle::Studies::Experiment.new(@study, scale: @scale, directory: "none", seed: 1, command: [],
                                              rounds: @blocks, testers: Testers).plan
  end

  def header
    { "type" => "lab", "schema" => "cuttle-lab/1", "id" => "made up", "started_at" => "2026-11-21T10:00:00Z",
      "environment" => { "server_cores" => Array.new(@cores) { |number| number }, "cpu" => "none" }.merge(@environment),
      "study" => { "name" => @study.name, "scale" => @scale.factor, "precision" => @precision,
                   "claims" => @study.deciding }.compact, **plan.to_h }
  end

  def missing
    (plan.configurations - here).map do |each|
      { "type" => "missing", "configuration" => each.id, "reason" => "not here" }
    end
  end

  def here
    plan.configurations.reject { |configuration| configuration.server == @missing }
  end

  def runs
    here.flat_map do |configuration|
      plan.loads_of(configuration).flat_map do |load|
        Array.new(@blocks) { |block| run(configuration, load, block) }
      end
    end
  end

  def run(configuration, load, block)
    rate, times, more = @value.call(configuration.to_h, load.to_h, block)
    { "type" => "run", "configuration" => configuration.id, "load" => load.id, "block" => block, "valid" => true,
      "reasons" => [], "rate" => rate, "responses" => 1000, "sent" => 1000, "ms" => times || {}, **@run,
      **(more || {}) }
  end
end
