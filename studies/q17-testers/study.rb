# frozen_string_literal: true

title "Four load testers at the same servers"
source 'N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019), who found ab too coarse to rank fast servers;
        ab and siege made most of the other publications as well'
question "How much of a published number comes from the load tester?"
design "Fast: an app that answers at once, 20 connections, kept and closed; and one connection after the other, as then.
        Slow: 5 ms of computing and 20 of waiting on five threads, 5 connections. The same server is loaded by cuttle
        load, ab, siege and wrk in the same block; wrk for a second, the others with a number of requests. The pair for
        s3.6 was chosen because it differs, from the first results: those are not evidence for it."

rounds 4
warmup 0.2

testers = { "cuttle load" => nil, "ab" => "ab", "siege" => "siege", "wrk" => "wrk" }
others = testers.keys - ["cuttle load"]
servers = { "hybrid" => ->(row, **kept) { row.serve engine: "hybrid", threads: 5, **kept },
            "puma" => ->(row, **kept) { row.other "puma", threads: 5, **kept } }
fast = { cpu_ms: 0, iowait_ms: 0, response_chars: 16 }

testers.each do |tester, program|
  servers.each do |name, server|
    { "closed" => false, "kept" => true }.each do |connections, keep_alive|
      trial "q17", app: "fast", at_once: 20, connections: connections, server: name, tester: tester do
        server.call(self, keep_alive: keep_alive)
        ask work(fast), connections: 20, requests: 20_000, tester: program
      end
    end
    trial "q17", app: "fast", at_once: 1, connections: "closed", server: name, tester: tester do
      server.call(self, keep_alive: false)
      ask work(fast), connections: 1, requests: 10_000, tester: program
    end
  end
  trial "q17", app: "slow", tester: tester do
    serve engine: "hybrid", threads: 5
    ask work(cpu_ms: 5, iowait_ms: 20, response_chars: 1000), connections: 5, requests: 400, tester: program
  end
end

# One by the other: the figures of the two servers under the same tester.
servers_by = lambda do |tester, **load|
  servers.keys.map { |name| rate("q17", app: "fast", **load, server: name, tester: tester) }
end

# A pair that differs. With one connection at once, as then, it isn't established that any does.
differing = { at_once: 20, connections: "closed" }
claim "s3.6",
      "ours by puma, 20 connections closed, by cuttle load: they differ" => [*servers_by["cuttle load", **differing],
                                                                             1.2..],
      "the same by ab: they don't" => [*servers_by["ab", **differing], 0.9..1.1]

# What a tester says, by what cuttle load says of the same.
by_ours = lambda do |metric, tester, **load|
  [tester, "cuttle load"].map { |each| public_send(metric, "q17", **load, tester: each) }
end
kept = { at_once: 20, connections: "kept", server: "hybrid" }

expect "q17.1", "for a slow app, all testers report the same",
       **others.to_h { |tester|
         ["requests/s by #{tester}, by cuttle load", [*by_ours[:rate, tester, app: "slow"], 0.95..1.05]]
       },
       **%w[ab wrk].to_h { |tester|
         ["p50 by #{tester}, by cuttle load", [*by_ours[:p50, tester, app: "slow"], 0.9..1.1]]
       }
expect "q17.2", "ab, with its one thread, reports a lower rate than a fast server can reach",
       "requests/s by ab, by cuttle load, 20 connections kept" => [*by_ours[:rate, "ab", **kept], ..0.95]
expect "q17.3", "siege reports less than half of it",
       "requests/s by siege, by cuttle load, 20 connections kept" => [*by_ours[:rate, "siege", **kept], ..0.5]
expect "q17.4", "wrk reports as much as cuttle load",
       "requests/s by wrk, by cuttle load, 20 connections kept" => [*by_ours[:rate, "wrk", **kept], 0.9..1.1]
expect "q17.5", "siege hides the differences between fast servers, ab shows them",
       "ours by puma, 20 connections closed, by cuttle load" => [*servers_by["cuttle load", **differing], 2..],
       "the same by ab" => [*servers_by["ab", **differing], 2..],
       "the same by siege" => [*servers_by["siege", **differing], ..1.5]
