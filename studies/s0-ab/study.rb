# frozen_string_literal: true

title "Ten users of a Heroku dyno, under nine servers"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); ab -n 500'
question "Which server, with how many processes and threads, serves an app that computes for 50 ms and waits for 250?"
design "The original's app (which computes by the wall clock), each server's model on Cuttle, and that server itself
        if it is available; 1 or 10 connections, 500 requests, each on its own connection. What the claims on threads
        rest on (s0.5, s0.7, s0.8, s0.9) has full length at any scale, because Ruby takes the GVL from a thread after
        100 ms, which a scale does not shorten; 300 requests, or as many as a percentile needs."
flaw "s0.2 says 9.84 requests/s of a serial server, which can't serve more than 3.33: several were served at once."
flaw "The app computes by the wall clock, so a request that waits for Ruby's lock counts that as work done, and more
      is served than the cores could compute."
flaw "ab sends the next request when the last one is answered: the time that a user would have waited is not counted."

cores :all
whole = %w[s0.5 s0.7 s0.8 s0.9] # at full length
fake_work = { cpu_ms: 50, iowait_ms: 250, response_chars: 20_091, spin: "wall" }

published "s0_heroku_ab.csv" do |row|
  workers = row.number("workers")
  case row["server"]
  when "webrick (not threadsafe)" then serve like: "scrawls-single", engine: "single"
  when "webrick (threadsafe)" then serve like: "webrick", engine: "threads", threads: 0, original: "webrick"
  when "thin (evented)" then serve like: "thin", engine: "reactor", original: "thin:evented"
  when "thin (threaded)" then serve like: "thin-threaded", engine: "hybrid", threads: 20, original: "thin:threaded"
  when "unicorn" then serve like: "unicorn", engine: "single", workers: workers, original: "unicorn"
  when "puma"
    serve like: "puma", engine: "hybrid", workers: workers > 1 ? workers : 0, threads: row.number("threads"),
          original: "puma"
  end
  full_length = true if whole.include?(row.id)
  ask work(fake_work), connections: row.number("concurrency"), full_length: full_length,
                       requests: full_length ? 300 : row.number("requests")
end

control p99("s0.9")

claim "s0.2", about: "a WEBrick that serves one request at a time, which today's can't be made to do",
              "p50 with 10 connections is more than twice that with 1" => [p50("s0.2"), p50("s0.1"), 2..],
              "its tail is uneven: p90 is above 1.2 times p50" => [p90("s0.2"), p50("s0.2"), 1.2..]
claim "s0.4", "evented serves what serial does" => [rate("s0.4"), rate("s0.2"), 0.9..1.1],
              "and evenly: p90 by p50" => [p90("s0.4"), p50("s0.4"), ..1.1]
claim "s0.5", "p90 by p50" => [p90("s0.5"), p50("s0.5"), 8..]
claim "s0.8", "1x16 threads by 4 processes" => [rate("s0.8"), rate("s0.7"), 1..]
claim "s0.9", "3x16 by 1x16" => [rate("s0.9"), rate("s0.8"), 1..],
              "its tail is long: p99 by p50" => [p99("s0.9"), p50("s0.9"), 2..]
claim "s0.10", cores: 4, "p50 by the time of a request alone" => [p50("s0.10"), p50("s0.1"), ..1.1],
               "p99 by p50" => [p99("s0.10"), p50("s0.10"), ..2]

# The same with the original load tester.
{ "s0.8" => 0, "s0.10" => 4 }.each do |id, workers|
  trial "#{id}.ab" do
    serve like: "puma", engine: "hybrid", workers: workers, threads: 16, original: "puma"
    full_length = true if whole.include?(id)
    ask work(fake_work), connections: 10, requests: full_length ? 300 : 500, tester: "ab", full_length: full_length
  end
end

expect "s0.ab", "for a slow app, ab reports what cuttle load reports",
       **%w[s0.8 s0.10].flat_map { |id|
         [["#{id}: requests/s by ab, by cuttle load", [rate("#{id}.ab"), rate(id), 0.95..1.05]],
          ["#{id}: p50 by ab, by cuttle load", [p50("#{id}.ab"), p50(id), 0.95..1.05]],
          ["#{id}: p90 by ab, by cuttle load", [p90("#{id}.ab"), p90(id), 0.95..1.05]]]
       }.to_h
