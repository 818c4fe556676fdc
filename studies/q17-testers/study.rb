# frozen_string_literal: true

title "Four load testers at the same servers"
source 'N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019), who took ab and found it too coarse; ab and siege made
        the other publications as well'
question "How much of a published number is the load tester's?"
design "Fast: an app that answers at once, 20 connections, kept and closed. Slow: 5 ms of computing and 20 of waiting on five
        threads, 5 connections. The same server is loaded by cuttle load, ab, siege and wrk in the same block; wrk for a
        second, the others with a number of requests."

rounds 5
warmup 0.2

testers = { "cuttle load" => nil, "ab" => "ab", "siege" => "siege", "wrk" => "wrk" }
servers = { "hybrid" => ->(row, **kept) { row.serve engine: "hybrid", threads: 5, **kept },
            "fibers" => ->(row, **kept) { row.serve engine: "fibers", **kept },
            "puma" => ->(row, **kept) { row.other "puma", threads: 5, **kept } }

testers.each do |tester, program|
  servers.each do |name, server|
    [false, true].each do |keep_alive|
      trial "q17", app: "fast", server: name, connections: keep_alive ? "kept" : "closed", tester: tester do
        server.call(self, keep_alive: keep_alive)
        ask work(cpu_ms: 0, iowait_ms: 0, response_chars: 16), connections: 20, requests: 20_000, tester: program
      end
    end
  end
  trial "q17", app: "slow", tester: tester do
    serve engine: "hybrid", threads: 5
    ask work(cpu_ms: 5, iowait_ms: 20, response_chars: 1000), connections: 5, requests: 400, tester: program
  end
end
