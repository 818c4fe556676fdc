# frozen_string_literal: true

# Results of a benchmark that never ran, as its lab would have written them.
module Measured
  Lines = Struct.new(:header, :records, :damages)

  module_function

  # rates: subject => requests per second in each round. run: what a run has beside, of [subject, round]. note: what the
  # plan says of its columns and figures.
  def results(rates, base: rates.keys.first, note: {}, more: [], missing: {}, **header, &run)
    subjects = rates.keys + missing.keys
    configurations = subjects.map.with_index(1) do |name, number|
      { "id" => "c#{number}", "name" => name, "server" => name, "base" => base, "version" => nil }
    end
    ids = configurations.to_h { |each| each.values_at("name", "id") }
    gone = missing.map { |name, reason| { "type" => "missing", "configuration" => ids[name], "reason" => reason } }
    runs = rates.flat_map do |name, values|
      values.map.with_index { |rate, round| run(ids[name], rate, round).merge((run ? run.call(name, round) : {})) }
    end
    first = { "configurations" => configurations, "loads" => [{ "id" => "l1", "loop" => "closed", "name" => "a load" }],
              "rounds" => 3, "duration" => 1.0, "seed" => 1, "started_at" => "2026-11-21T10:00:00Z",
              "environment" => { "cpu" => "a 6502" }, Bench::Report::NOTE => note, **header.transform_keys(&:to_s) }
    Cuttle::Lab::Results.new(Lines.new(first, [*gone, *runs, *more, { "type" => "end", "interrupted" => false }], []),
                             "made-up/results.jsonl")
  end

  def run(id, rate, round)
    { "type" => "run", "configuration" => id, "load" => "l1", "block" => round, "valid" => true, "reasons" => [],
      "rate" => rate, "ms" => { "p99" => 2.5 }, "server" => {}, "load_cpu" => 0.5, "errors" => {} }
  end
end
