# frozen_string_literal: true

title "From 1 to 20 users, with three kinds of app"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); siege -b -t30s'
question "At which concurrency does each server reach its highest rate, and how does that change if the app computes
          more and waits less?"
design "Each server's model on Cuttle, 1 to 20 connections in a closed loop, apps of 50 ms CPU and 250 ms waiting, 50
        and 50, and 100 and 1."
flaw "The app computes by the wall clock: see s0-ab. What depends on Ruby's 100 ms is in s0-quantum."

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

# On two cores, 4x16 can't serve 1.2 times as much at 20 connections, and 4 processes of one thread use both.
claim "s0.11", "4x16 at 20 connections by that at 10: not topped out" =>
                 on_cores(4, rate("s0.11", server: "puma", workers: 4, concurrency: 20),
                          rate("s0.11", server: "puma", workers: 4, concurrency: 10), 1.2..),
               "1x16 by 4 processes, at 10" =>
                 [rate("s0.11", server: "puma", workers: 1, concurrency: 10),
                  rate("s0.11", server: "unicorn", workers: 4, concurrency: 10), 1..]
claim "s0.12", cores: 2, "1x16 by 4 processes, at 10" =>
                 [rate("s0.12", server: "puma", workers: 1, concurrency: 10),
                  rate("s0.12", server: "unicorn", workers: 4, concurrency: 10), ..1],
               "4x16 by 4 processes, at 10" =>
                 on_cores(4, rate("s0.12", server: "puma", workers: 4, concurrency: 10),
                          rate("s0.12", server: "unicorn", workers: 4, concurrency: 10), 1..)
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
