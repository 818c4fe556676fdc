# frozen_string_literal: true

title "No number of threads to choose: -t auto on an album, where one process renders for all"
source "A question of our own: q22 asked it about apps that we made up"
question "How much does -t auto lose against the best fixed number if requests wait for a service that does one thing at
          a time, and how does Puma perform with each number?"
design "The album page: two queries of 1 ms, 10 ms of rendering in a Node.js process that answers one request at a time,
        and 1 ms in Ruby. One process on one core, 24 connections in a closed loop, 5 s of warm-up, in which threads are
        started. Auto with at most 16 threads, because the server doesn't know the app's own pools, which have 16
        connections each; beside it 3, 5 and 16 threads with as many connections, and Puma with these."

app "album"
cores 1
warmup 5

numbers = [3, 5, 16]
page = lambda do |row|
  row.ask row.work(query_ms: 1, render_ms: 10, cpu_ms: 1), connections: 24, requests: 1500
end

trial "q27.album", threads: "auto" do
  most = numbers.max.to_s
  serve engine: "hybrid-auto", keep_alive: true, flags: ["--max-threads", most],
        environment: { "RAILS_MAX_THREADS" => most }
  page.call(self)
end
numbers.each do |threads|
  trial "q27.album", threads: threads do
    serve engine: "hybrid", threads: threads, keep_alive: true, original: "puma"
    page.call(self)
  end
end

by_numbers = lambda do |metric, range|
  auto, *others = ["auto", *numbers].map { |threads| send(metric, "q27.album", threads: threads) }
  numbers.zip(others).to_h { |threads, other| ["by #{threads} threads", [auto, other, range]] }
end
expect "q27.album.1", "where one process renders for all, auto serves at least 98% of what each number serves",
       on: :ours, **by_numbers[:rate, 0.98..]
expect "q27.album.2", "its p99 is at most 5% longer than with any number", on: :ours, **by_numbers[:p99, ..1.05]
