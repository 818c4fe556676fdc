# frozen_string_literal: true

title "Processes and threads in front of a database with a limit of connections"
source "Left open by N. Gibbs (2017), whose 11 processes of 16 threads met PostgreSQL's limit of 100"
question "With a limited number of connections to the database, how should they be split between processes and threads?
          What happens above the limit, and does a pool of fewer connections than threads help?"
design "The work app, 10 ms of CPU time and 40 ms in the database, on a PostgreSQL of 20 connections, at 40 connections
        in a closed loop. Each thread with a connection of its own, up to the limit and above it (q6.1); 20 connections
        split in five ways (q6.2); twice as many threads as connections, which take turns (q6.3)."

app "work", profile: { query: "sleep", connections: 20, cpu_ms: 1, iowait_ms: 1, response_chars: 1000 }
cores :all
request = { cpu_ms: 10, iowait_ms: 40, response_chars: 1000 }

# id, processes, threads, connections of a process
[["q6.1", 2, 5, 5], ["q6.1", 4, 5, 5], ["q6.1", 4, 6, 6], ["q6.1", 8, 5, 5],
 ["q6.2", 1, 20, 20], ["q6.2", 2, 10, 10], ["q6.2", 4, 5, 5], ["q6.2", 10, 2, 2], ["q6.2", 20, 1, 1],
 ["q6.3", 2, 20, 10], ["q6.3", 4, 10, 5]].each do |id, workers, threads, pool|
  trial id, workers: workers, threads: threads do
    serve like: "puma", engine: "hybrid", workers: workers, threads: threads, environment: { "WORK_POOL" => pool.to_s }
    ask work(request), connections: 40, requests: 2000
  end
end

control rate("q6.2", workers: 2, threads: 10)

at = ->(id, workers, threads) { [id, { workers: workers, threads: threads }] }
expect "q6.1", "more threads than the database allows connections, each with its own, give errors",
       "4x5 for 20 connections: fewer than 0.1%" => [errors(*at["q6.1", 4, 5]), 0.001, ..1],
       "4x6: more than 0.1%" => [errors(*at["q6.1", 4, 6]), 0.001, 1..],
       "8x5 by 4x6: the more, the more" => [errors(*at["q6.1", 8, 5]), errors(*at["q6.1", 4, 6]), 1..]
expect "q6.2", "with as many processes as cores or more, the split of 20 connections does not matter", cores: 2,
       "1x20 by 2x10: one core is not enough" => [rate(*at["q6.2", 1, 20]), rate(*at["q6.2", 2, 10]), ..0.9],
       "10x2 by 2x10" => [rate(*at["q6.2", 10, 2]), rate(*at["q6.2", 2, 10]), 0.95..1.05],
       "20x1 by 2x10" => [rate(*at["q6.2", 20, 1]), rate(*at["q6.2", 2, 10]), 0.95..1.05]
expect "q6.2.tail", "with fewer threads in a process the tail is shorter", cores: 2,
       "p99 of 20x1 by 2x10" => [p99(*at["q6.2", 20, 1]), p99(*at["q6.2", 2, 10]), ..1]
expect "q6.2.memory", "each further process costs memory",
       "20x1 by 2x10" => [memory(*at["q6.2", 20, 1]), memory(*at["q6.2", 2, 10]), 2..]
expect "q6.3", "threads that share fewer connections stay within the limit, and serve as much",
       "errors of 4x10 with 5 connections each: fewer than 0.1%" => [errors(*at["q6.3", 4, 10]), 0.001, ..1],
       "4x10 with 5 connections each by 4x5" => [rate(*at["q6.3", 4, 10]), rate(*at["q6.2", 4, 5]), 0.95..]
