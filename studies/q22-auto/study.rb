# frozen_string_literal: true

title "No number of threads to choose: -t auto"
source "A question of our own, for `cuttle tune`: every published experiment had to choose a number of threads"
question "Hybrid can start threads while requests wait and the GVL is free. How much does that lose against the best
          fixed number, and how does Puma perform with each number?"
design "Five apps: hello; 5 ms of computing; 5 ms of computing and 20 ms of waiting; the same in five pieces; 20 ms of
        waiting. One process on one core, 24 connections in a closed loop, 2 s of warm-up, in which threads are started.
        Auto beside 3, 5 and 16 threads, and Puma with these."

cores 1
warmup 2

numbers = [3, 5, 16]
apps = {
  "hello" => [{ cpu_ms: 0, iowait_ms: 0 }, 200_000],
  "computes" => [{ cpu_ms: 5, iowait_ms: 0 }, 1_000],
  "computes and waits" => [{ cpu_ms: 5, iowait_ms: 20 }, 1_000],
  "in five pieces" => [{ cpu_ms: 5, iowait_ms: 20, slices: 5 }, 1_000],
  "waits" => [{ cpu_ms: 0, iowait_ms: 20 }, 1_000]
}

apps.each do |name, (work, requests)|
  measure = lambda do |threads, &servers|
    trial "q22", app: name, threads: threads do
      instance_exec(&servers)
      ask work(response_chars: 100, **work), connections: 24, requests: requests
    end
  end
  measure.call("auto") { serve engine: "hybrid-auto", keep_alive: true }
  numbers.each do |threads|
    measure.call(threads) { serve engine: "hybrid", threads: threads, keep_alive: true, original: "puma" }
  end
end

by_numbers = lambda do |metric, range|
  apps.keys.product(numbers).to_h do |app, threads|
    ["#{app}: by #{threads} threads",
     [send(metric, "q22", app: app, threads: "auto"), send(metric, "q22", app: app, threads: threads), range]]
  end
end

expect "q22.1", "auto serves at least 98% of what each number of threads serves", on: :ours, **by_numbers[:rate, 0.98..]
expect "q22.2", "its p99 is at most 5% longer than with any number", on: :ours, **by_numbers[:p99, ..1.05]
