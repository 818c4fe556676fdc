# frozen_string_literal: true

title "From 1 to 20 users, with three kinds of app"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); siege -b -t30s'
question "At which concurrency does each server reach its highest rate, and how does that change if the app computes
          more and waits less?"
design "Each server's model on Cuttle, 1 to 20 connections in a closed loop, apps of 50 ms CPU and 250 ms waiting, 50
        and 50, and 100 and 1."
flaw "The app computes by the wall clock: see s0-ab. What depends on Ruby's 100 ms is in s0-quantum, and what its claims
      compare, with longer requests, in s0-pairs."

cores :all
rounds 3
warmup 0.1

published "s0_heroku_sweeps.csv" do |row|
  workers, threads = row.number("workers"), row.number("threads")
  if row["server"] == "puma"
    serve like: "puma", engine: "hybrid", workers: workers > 1 ? workers : 0, threads: threads
  else
    serve like: "unicorn", engine: "single", workers: workers
  end
  ask work(cpu_ms: row.number("cpu_ms"), iowait_ms: row.number("io_ms"), response_chars: 20_091, spin: "wall"),
      connections: row.number("concurrency"), requests: 40 + (row.number("concurrency") * 6)
end

control rate("s0.11", server: "puma", workers: 4, concurrency: 10)

# The same with the original load tester.
profiles = { "s0.11" => [50, 250], "s0.12" => [50, 50], "s0.13" => [100, 1] }

profiles.each do |id, (cpu_ms, iowait_ms)|
  trial "#{id}.siege" do
    serve like: "puma", engine: "hybrid", workers: 4, threads: 16
    ask work(cpu_ms: cpu_ms, iowait_ms: iowait_ms, response_chars: 20_091, spin: "wall"), connections: 10,
        requests: 100,
        tester: "siege"
  end
end

expect "s0.siege", "for slow apps, siege reports what cuttle load reports",
       **profiles.keys.to_h { |id|
         ["4x16 at 10, #{id}: requests/s by siege, by cuttle load",
          [rate("#{id}.siege"), rate(id, server: "puma", workers: 4, concurrency: 10), 0.95..1.05]]
       }
