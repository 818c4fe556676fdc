# frozen_string_literal: true

# Results of a benchmark that never ran, as its lab would have written them.
module Measured
  Lines = Struct.new(:header, :records, :damages)

  module_function

  # rates: subject => requests per second in each round. run: what a run has beside, of [subject, round]. note: what the
  # plan says of its columns and figures.
  def results(rates, **more, &run)
    Cuttle::Lab::Results.new(lines(rates, **more, &run), "made-up/results.jsonl")
  end

  # Writes them into a directory, as a lab does. Returns the directory.
  def write(directory, rates, **more, &run)
    lines = lines(rates, **more, &run)
    file = File.join(directory, Cuttle::Lab::Results::Store::FILE)
    File.write(file, [lines.header, *lines.records].map { |each| "#{JSON.generate(each)}\n" }.join)
    directory
  end

  # base: that of all subjects but those in bases.
  def lines(rates, base: rates.keys.first, bases: {}, note: {}, more: [], missing: {}, **header, &run)
    subjects = rates.keys + missing.keys
    configurations = subjects.map.with_index(1) do |name, number|
      { "id" => "c#{number}", "name" => name, "server" => name[/[\w.-]+/], "base" => bases.fetch(name, base),
        "version" => nil }
    end
    ids = configurations.to_h { |each| each.values_at("name", "id") }
    gone = missing.map { |name, reason| { "type" => "missing", "configuration" => ids[name], "reason" => reason } }
    runs = rates.flat_map do |name, values|
      values.map.with_index { |rate, round| run(ids[name], rate, round).merge((run ? run.call(name, round) : {})) }
    end
    first = { "type" => "lab", "schema" => Cuttle::Lab::Results::SCHEMA, "command" => %w[benchmark/made-up --seed 1],
              "configurations" => configurations, "loads" => [{ "id" => "l1", "loop" => "closed", "name" => "a load" }],
              "rounds" => 3, "duration" => 1.0, "seed" => 1, "started_at" => "2026-11-21T10:00:00Z",
              "environment" => { "cpu" => "a 6502" }, Bench::Report::NOTE => note, **header.transform_keys(&:to_s) }
    Lines.new(first, [*gone, *runs, *more, { "type" => "end", "interrupted" => false }], [])
  end

  def run(id, rate, round)
    { "type" => "run", "configuration" => id, "load" => "l1", "block" => round, "valid" => true, "reasons" => [],
      "rate" => rate, "ms" => { "p99" => 2.5 }, "server" => {}, "load_cpu" => 0.5, "errors" => {} }
  end
end
