# frozen_string_literal: true

title "Kept connections and fairness, in Puma 5 to 8"
source "A question of our own: Puma 6 and 7 changed how a thread goes on with a connection that it has just served"
question "Twenty connections that are kept alive, and five threads: does each connection get its turn?"
design "An app that computes for 2 ms; 5 threads, 20 connections in a closed loop; the last releases of Puma 5.6, 6 and
        7, today's Puma 8, and its model on Cuttle. With perfect turns every request waits as long: p99 is p50."

cores 1
warmup 1

servers = { "5.6" => "puma-5.6", "6" => "puma-6", "7" => "puma-7", "8" => "puma" }
ask_it = ->(row) { row.ask row.work(cpu_ms: 2, iowait_ms: 0, response_chars: 100), connections: 20, requests: 2000 }

servers.each do |version, server|
  trial "q26", puma: version do
    other server, threads: 5, keep_alive: true
    ask_it.call(self)
  end
end
trial "q26", puma: "model" do
  serve like: "puma", engine: "hybrid", threads: 5, keep_alive: true
  ask_it.call(self)
end

servers.each_key do |version|
  expect "q26.#{version}", "Puma #{version} is fair: p99 is less than twice the median",
         "p99 by p50" => [p99("q26", puma: version), p50("q26", puma: version), ..2]
end
expect "q26.model", "and so is its model on Cuttle",
       "p99 by p50" => [p99("q26", puma: "model"), p50("q26", puma: "model"), ..2]
