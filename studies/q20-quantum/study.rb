# frozen_string_literal: true

title "How long a thread may compute: 100 ms, or 10"
source "A question of our own, which s0.14 led to: Ruby takes the GVL from a thread after 100 ms, and Ruby 3.4 and later
        after as many as RUBY_THREAD_TIMESLICE says"
question "Requests of uneven length on five threads of one process: does a shorter quantum let short requests overtake
          long ones, and what does it cost?"
design "40 ms of computing on average and 10 of waiting, log-normal with a coefficient of variation of 2; 10 connections
        in a closed loop; hybrid with 5 threads on one core, and Puma; Ruby 4.0. At full length only."

cores 1
full_length

{ "100 ms" => nil, "10 ms" => { "RUBY_THREAD_TIMESLICE" => "10" } }.each do |quantum, environment|
  trial "q20", quantum: quantum do
    serve engine: "hybrid", threads: 5, environment: environment, ruby: "4.0"
    other "puma", threads: 5, environment: environment, ruby: "4.0"
    ask work(cpu_ms: 40, iowait_ms: 10, cv: 2, response_chars: 1000), connections: 10, requests: 1000
  end
end

short_by_long = ->(metric) { ["10 ms", "100 ms"].map { |quantum| send(metric, "q20", quantum: quantum) } }
expect "q20.1", "a tenth of the quantum shortens half of the response times",
       "p50 with 10 ms by that with 100" => [*short_by_long[:p50], ..0.95]
expect "q20.2", "and lengthens the tail", "p99 with 10 ms by that with 100" => [*short_by_long[:p99], 1..]
expect "q20.3", "for less than 5% of the rate", "rate with 10 ms by that with 100" => [*short_by_long[:rate], 0.95..]
