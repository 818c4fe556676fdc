# frozen_string_literal: true

require "json"

# A lab that never ran: its records as a runner would write them, with rates as the block says. Seeded.
class SyntheticLab
  Lines = Struct.new(:header, :records, :damages)

  # +names+: a configuration each; controls: { its name => the name it repeats }. loop: "open" makes p95 what counts.
  # The block gets (name, load's index, block, random) and returns the rate, or in an open loop p95; nil: no run.
  def initialize(names, blocks: 5, loads: 1, loop: "closed", controls: {}, seed: 1, &value)
    @names = names
    @blocks = blocks
    @loads = loads
    @loop = loop
    @controls = controls
    @random = Random.new(seed)
    @value = value
  end

  def header
    { "type" => "lab", "schema" => "cuttle-lab/1", "id" => "synthetic", "started_at" => "2026-11-21T10:00:00Z",
      "command" => %w[cuttle lab], "seed" => 1, "rounds" => @blocks, "duration" => 1.0, "warmup" => 0.5,
      "app" => { "name" => "work" }, "configurations" => @names.map { |name| configuration(name) },
      "loads" => Array.new(@loads) { |index| load(index) }, "environment" => { "cores" => 2 }, "fairness" => [],
      "cut" => [] }
  end

  def runs
    Array.new(@blocks) do |block|
      Array.new(@loads) { |load| @names.filter_map { |name| run(name, load, block) } }
    end.flatten
  end

  def records
    runs + [{ "type" => "end", "at" => "2026-11-21T10:01:00Z", "interrupted" => false }]
  end

  def results
    Cuttle::Lab::Results.new(Lines.new(header, records, []), "synthetic/results.jsonl")
  end

  def analysis
    Cuttle::Lab::Analysis.new(results)
  end

  # A normal deviate.
  def self.gauss(random)
    Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end

  private

  def id(name)
    "c#{@names.index(name) + 1}"
  end

  def configuration(name)
    { "id" => id(name), "name" => name, "server" => "cuttle", "model" => name[/\w+/], "workers" => 0, "threads" => 1,
      "keep_alive" => true, "ruby" => "3.1.2", "version" => "0.1.0", "slots" => 1,
      "control_of" => @controls[name] && id(@controls[name]) }
  end

  def load(index)
    { "id" => "l#{index + 1}", "name" => "#{10 * (index + 1)} connections", "loop" => @loop,
      "connections" => 10 * (index + 1), "rate" => nil, "poisson" => false, "keep_alive" => true }
  end

  def run(name, load, block)
    value = @value.call(name, load, block, @random) or return
    rate, time = @loop == "open" ? [100.0, value] : [value, 1e4 / value]
    { "type" => "run", "configuration" => id(name), "load" => "l#{load + 1}", "block" => block, "order" => 0,
      "at" => "2026-11-21T10:00:30Z", "valid" => true, "reasons" => [], "boot" => 0.4 + block / 10.0, "proof" => [],
      "steady" => true, "rate" => rate, "responses" => rate.round, "sent" => rate.round, "elapsed" => 1.0,
      "errors" => { "connect" => 0, "timeout" => 0 },
      "ms" => { "p50" => time / 2, "p95" => time, "p99" => nil }, "load_cpu" => 0.2,
      "server" => { "cpu_us" => 100.0 + block, "switches" => 2.0, "pss" => [30_000_000], "pss_total" => 30_000_000 },
      "marks" => [], "windows" => [], "histogram" => nil, "warnings" => [] }
  end
end

# The same with a closed loop of 20 connections, an open loop of 100 requests per second, or both. loops: by index.
class MixedLab < SyntheticLab
  def initialize(names, loops:, **options, &value)
    super(names, loads: loops.length, **options, &value)
    @loops = loops
  end

  private

  def load(index)
    open = @loops[index] == "open"
    super.merge("loop" => @loops[index], "name" => open ? "100/s" : "20 connections", "connections" => open ? 1000 : 20,
                "rate" => open ? 100.0 : nil)
  end

  def run(name, load, block)
    @loop = @loops[load]
    super
  end
end
