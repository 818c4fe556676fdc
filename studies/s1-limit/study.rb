# frozen_string_literal: true

title "Eleven processes of sixteen threads in front of a database of 100 connections"
source 'N. Gibbs, "Rails Benchmarking: Puma and MultiProcess" (2017), who saw status 500 there'
question "176 threads with a connection each need more connections than PostgreSQL allows. Did that cause the errors?
          With as many concurrent requests as threads, the limit is really exceeded; below the limit, nothing may fail."
design "The work app in place of Discourse: 1 ms of computing, then a query that sleeps for 400 ms. PostgreSQL takes 100
        connections, three of them for its superuser. 5 processes of 16 threads, which stay below that, and 11; as many
        connections of the load as threads; Puma's model on Cuttle, and Puma."
flaw "In the original, 30 load threads met 176 server threads, so how many connections to the database were open was not
      known."

app "work", profile: { query: "sleep", connections: 100, cpu_ms: 1, iowait_ms: 1, response_chars: 1000 }
cores :all

{ 5 => 80, 11 => 176 }.each do |workers, connections|
  trial "s1.limit", workers: workers do
    serve like: "puma", engine: "hybrid", workers: workers, threads: 16, environment: { "WORK_POOL" => "16" },
          original: "puma"
    ask work(cpu_ms: 1, iowait_ms: 400, response_chars: 1000), connections: connections, requests: 4000
  end
end

claim "s1.5", "11x16, a query at once in each thread: a share of errors above 0.1%" =>
                [errors("s1.limit", workers: 11), 0.001, 1..],
              "5x16, below the limit: a smaller one" => [errors("s1.limit", workers: 5), 0.001, ..1]
