# frozen_string_literal: true

title "Rails Ruby Bench: a forum under Puma, with processes and threads"
source 'N. Gibbs, "Rails Benchmarking: Puma and MultiProcess" (2017); Discourse, 1,500 requests, a machine of 8 virtual
        cores'
question "How many processes and threads should a real Rails app have, and how many concurrent requests does it take to
          see the difference?"
design "The lab's forum in place of Discourse, with the same four actions, on a PostgreSQL of 100 connections (its
        default, and the original's). Puma's model on Cuttle with as many processes and threads as each row had, and
        Puma itself for some; 1,500 requests, from as many connections as there were load threads. For s1.2, 1 to 16
        connections at one process."
flaw "From row to row, the load's threads, the processes and the server's threads all change. So no difference has one
      known cause."
flaw "The load, the database and the app were on one machine of 8 virtual cores (4 real ones), as they are here on
      fewer."
flaw "Requests that waited were not counted from when they should have been sent."
flaw "With 30 load threads, the database's limit of connections need not be exceeded: s1-limit makes sure."

app "forum", profile: { connections: 100 }
rounds 3 # a start of Rails takes seconds
cores :all
warmup 2 # eleven workers are cold for longer than one
originals = %w[s1.1 s1.2 s1.5 s1.12]

published "s1_rails_ruby_bench.csv" do |row|
  workers = row.number("workers")
  serve like: "puma", engine: "hybrid", workers: workers > 1 ? workers : 0, threads: row.number("threads"),
        original: ("puma" if originals.include?(row.id))
  ask get("/"), connections: row.number("load_threads") || 10, requests: 1500
end

[1, 3, 5, 7, 16].each do |threads|
  trial "s1.2.load", load_threads: threads do
    serve like: "puma", engine: "hybrid", threads: 16, original: "puma"
    ask get("/"), connections: threads, requests: 1500
  end
end

at = ->(threads) { rate("s1.2.load", load_threads: threads) }
# PostgreSQL and the load need a core as well.
claim "s1.1", cores: 3, "2 processes by one" => [rate("s1.2"), rate("s1.12"), 1.8..2.2]
claim "s1.2", "16 at once by 7: no more" => [at[16], at[7], ..1.05],
              "5 at once by 3: not yet" => [at[5], at[3], 1.05..]
claim "s1.6", cores: 8, "10x6 by 8x10" => [rate("s1.6"), rate("s1.10"), 1..],
                        "10x6 by 11x16, at 20" => [rate("s1.6"), rate("s1.4"), 0.95..]
