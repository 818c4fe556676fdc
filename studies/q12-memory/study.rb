# frozen_string_literal: true

title "Processes against threads, in memory"
source 'Left open by K. Haines, "Web Server Concurrency", RubyKaigi 2016, who published resident sizes of processes'
question "How much memory does a slot cost: as a process that was forked from one that had loaded the app, or as a
          thread? Resident sizes count a page that eight processes share eight times; the proportional set size (PSS)
          counts it once."
design "The forum (Rails) with 1 process, 8 processes, and 8 threads of one; 8 connections; memory after the load."

app "forum"
cores 2

servers = {
  "1 process" => { engine: "single", workers: 1 }, "8 processes" => { engine: "single", workers: 8 },
  "8 threads" => { engine: "hybrid", workers: 1, threads: 8 },
  "2 of 4 threads" => { engine: "hybrid", workers: 2, threads: 4 }
}

servers.each do |kind, server|
  trial "q12", server: kind do
    serve(**server)
    ask get("/"), connections: 8, requests: 3000
  end
end

eight = { server: "8 processes" }
control memory("q12", **eight)

# The publication has no number for how much less: the bound is that of "alike".
claim "s4.6", "8 processes: their PSS by their resident sizes: less" =>
                [memory("q12", **eight), resident("q12", **eight), ..0.9]
expect "q12.1", "threads are cheaper than processes",
       "8 processes by 8 threads" => [memory("q12", server: "8 processes"), memory("q12", server: "8 threads"), 2..]
