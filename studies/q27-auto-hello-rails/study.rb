# frozen_string_literal: true

title "No number of threads to choose: -t auto on the shortest page of Rails"
source "A question of our own: q22 asked it about apps that we made up"
question "How much does -t auto lose against the best fixed number if Rails only computes, and how does Puma perform
          with each number?"
design "A Rails 7.2 app of one route and one controller, without a database. One process on one core, 24 connections in
        a closed loop, 5 s of warm-up, in which threads are started. Auto beside 3, 5 and 16 threads, and Puma with
        these."

app "hello-rails"
cores 1
warmup 5

numbers = [3, 5, 16]
page = ->(row) { row.ask row.get("/"), connections: 24, requests: 20_000 }

trial "q27.rails", threads: "auto" do
  serve engine: "hybrid-auto", keep_alive: true
  page.call(self)
end
numbers.each do |threads|
  trial "q27.rails", threads: threads do
    serve engine: "hybrid", threads: threads, keep_alive: true, original: "puma"
    page.call(self)
  end
end

by_numbers = lambda do |metric, range|
  auto, *others = ["auto", *numbers].map { |threads| send(metric, "q27.rails", threads: threads) }
  numbers.zip(others).to_h { |threads, other| ["by #{threads} threads", [auto, other, range]] }
end
expect "q27.rails.1", "on a Rails app that only computes, auto serves at least 98% of what each number serves",
       on: :ours, **by_numbers[:rate, 0.98..]
expect "q27.rails.2", "its p99 is at most 5% longer than with any number", on: :ours, **by_numbers[:p99, ..1.05]
