# frozen_string_literal: true

title "Garbage collections between requests, and tails"
source "A question of our own: the publications had Unicorn, whose out-of-band collections were the advice then"
question "Does it shorten the tail if major collections happen between requests?"
design "An app that computes for 5 ms and allocates 2 MB; two workers of five threads on one core; an open loop of 60
        requests a second, less than half of what they can serve; major collections whenever Ruby wants them, or after
        a response (studies/apps/collecting.ru; needs Ruby 3.4 or later), under Cuttle and under Puma. At full length
        only: a scale does not shorten what is allocated."

app "collecting.ru"
cores 1
warmup 2
full_length

{ "between requests" => "between", "whenever Ruby wants" => "always" }.each do |collection, value| # COLLECT
  trial "q24", collected: collection do
    serve engine: "hybrid", workers: 2, threads: 5, keep_alive: true, environment: { "COLLECT" => value },
          ruby: "4.0", original: "puma"
    ask work(cpu_ms: 5, iowait_ms: 5, alloc_kb: 2000, response_chars: 1000), connections: 20, requests: 1200,
        rate: 60, poisson: true
  end
end

between = lambda do |metric|
  ["between requests", "whenever Ruby wants"].map { |collected| send(metric, "q24", collected: collected) }
end
expect "q24.1", "collections between requests shorten the tail",
       "p99: between requests by whenever Ruby wants" => [*between[:p99], ..0.95]
expect "q24.2", "and cost less than 5% more CPU time",
       "CPU time: between requests by whenever Ruby wants" => [*between[:cpu], ..1.05]
