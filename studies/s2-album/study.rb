# frozen_string_literal: true

title "An album page: two queries, and a part that Node.js renders"
source '"Puma vs. Unicorn - Performance" (2015); ab -n 100'
question "Does a page that takes half a second arrive sooner, or more evenly, from workers with threads than from
          workers that serve one request each?"
design "A page of two queries (10 ms each), 520 ms of rendering in a Node.js process that all workers share, and 10 ms
        in Ruby: 550 ms, as it took. Two workers of one thread, or of up to 2 or 16, on Cuttle by each server's habits
        and on the server itself; 1, 10 and 30 connections, 100 requests."
flaw "Medians grow with the connections, as 1 to 10 to 31 (552, 5,686, 17,332 ms): two workers served no more than one
      request alone. Something was serial that no server could help, most likely the one Node.js process."
flaw "Of 100 requests the 99th decides p99, so a single cold one does: with one connection Puma's is the time of two
      pages, which a worker's first request may well take. Here servers are warm."
flaw "Up to 2 or 16 threads (0:2, 0:16) means as many as there are requests; here they are there from the start."

app "album"
page = { query_ms: 10, render_ms: 520, cpu_ms: 10 }

published "s2_puma_vs_unicorn.csv" do |row|
  if row["server"] == "unicorn"
    serve like: "unicorn", engine: "single", workers: 2, original: "unicorn"
  else
    serve like: "puma", engine: "hybrid", workers: 2, threads: row["threads"].split(":").last.to_i, original: "puma"
  end
  ask work(page), connections: row.number("concurrency"), requests: row.number("requests")
end

unicorn, puma = { server: "unicorn" }, { server: "puma", threads: "0:16" }
claim "s2.1", "p50, 2x16 threads by 2 processes, at 1" => [p50("s2.1", puma), p50("s2.1", unicorn), 0.9..1.1],
              "at 10" => [p50("s2.2", puma), p50("s2.2", unicorn), 0.9..1.1],
              "at 30" => [p50("s2.3", puma), p50("s2.3", unicorn), 0.9..1.1],
              "p99, 2 processes by 2x16 threads, at 1" => [p99("s2.1", unicorn), p99("s2.1", puma), ..1],
              "p99 at 10" => [p99("s2.2", unicorn), p99("s2.2", puma), ..1],
              "p99 at 30" => [p99("s2.3", unicorn), p99("s2.3", puma), ..1]
