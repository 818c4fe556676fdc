# frozen_string_literal: true

require "tmpdir"
require_relative "lab_fakes"

# Carries out a lab without any load: each run has its result at once. A round has single, hybrid and the control of
# hybrid (c1 to c3) under two loads, unless the options say otherwise.
class InstantLab
  # As far as a Runner looks at the speed of the cores.
  Speed = Struct.new(:waited, :left)

  # As a Runner::Trial.
  Trial = Struct.new(:ran) do
    def run(*, **)
      ran&.call
      { "valid" => true, "reasons" => [], "rate" => 100.0, "repeated" => false, "ms" => { "p95" => 1.0 } }
    end
  end

  attr_reader :plan, :store, :out, :interruption

  def initialize(rounds:, **options)
    options = { seed: 1, concurrency: [1, 2], workers: [0], engines: %w[single hybrid], rounds: rounds, **options }
    @plan = Cuttle::Lab::Plan.build(Cuttle::Lab::Options.new(**options), peers: LabFakes::Peers.new)
    @store = LabFakes::Store.new
    @out = StringIO.new
    @interruption = Cuttle::Lab::Runner::Interruption.new
  end

  # The block is called with the configuration of each start. ran: called in each run.
  def run(done: nil, time: Cuttle::Lab::Runner::TimeLimit.new(nil), speed: Speed.new(0.0, 0.0), wanted: nil, ran: nil)
    testbed = LabFakes::Testbed.new do |configuration|
      yield configuration if block_given?
      LabFakes::Server.new(1)
    end
    progress = Cuttle::Lab::Runner::Progress.new(out, total: plan.length, done: done ? done.runs.length : 0)
    runner = Cuttle::Lab::Runner.new(plan: plan, testbed: testbed, cores: nil, speed: speed, store: store, done: done,
                                     progress: progress, interruption: interruption, time: time, wanted: wanted,
                                     trials: { nil => ->(**) { Trial.new(ran) } })
    runner.run
    runner.finish
    self
  end

  # The lines of a type; their values, if keys are given.
  def of(type, *keys)
    lines = store.of(type)
    keys.any? ? lines.map { |line| keys.one? ? line[keys.first] : line.values_at(*keys) } : lines
  end

  # Results of these lines.
  def results(lines = store.lines)
    header = { "type" => "lab", "schema" => "cuttle-lab/1", **plan.to_h }
    Dir.mktmpdir do |directory|
      store = Cuttle::Lab::Results::Store.create("#{directory}/lab", header)
      lines.each { |line| store.append(line) }
      store.close
      Cuttle::Lab::Results.read("#{directory}/lab")
    end
  end
end
