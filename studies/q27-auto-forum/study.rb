# frozen_string_literal: true

title "No number of threads to choose: -t auto on a forum with PostgreSQL"
source "A question of our own: q22 asked it about apps that we made up"
question "How much does -t auto lose against the best fixed number on a Rails app with a database, and how does Puma
          perform with each number?"
design "The lab's forum on PostgreSQL: the latest topics, a topic, a reply, a new topic, equally often. One process on
        one core, 24 connections in a closed loop, 5 s of warm-up, in which threads are started. Auto with a database
        pool of 16 connections, so it starts at most 16 threads; beside it 3, 5 and 16 threads with as many connections,
        and Puma with these."

app "forum"
cores 1
warmup 5

numbers = [3, 5, 16]
actions = ->(row) { row.ask row.get("/"), connections: 24, requests: 3000 } # the forum's own mix takes the place of /

trial "q27.forum", threads: "auto" do
  serve engine: "hybrid-auto", keep_alive: true, environment: { "RAILS_MAX_THREADS" => numbers.max.to_s }
  actions.call(self)
end
numbers.each do |threads|
  trial "q27.forum", threads: threads do
    serve engine: "hybrid", threads: threads, keep_alive: true, original: "puma"
    actions.call(self)
  end
end

by_numbers = lambda do |metric, range|
  auto, *others = ["auto", *numbers].map { |threads| send(metric, "q27.forum", threads: threads) }
  numbers.zip(others).to_h { |threads, other| ["by #{threads} threads", [auto, other, range]] }
end
expect "q27.forum.1", "on a Rails app with a database, auto serves at least 98% of what each number serves",
       on: :ours, **by_numbers[:rate, 0.98..]
expect "q27.forum.2", "its p99 is at most 5% longer than with any number", on: :ours, **by_numbers[:p99, ..1.05]
