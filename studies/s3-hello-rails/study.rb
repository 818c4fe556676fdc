# frozen_string_literal: true

title "Hello, world on Rails, from five servers, and Puma with more processes and threads"
source 'N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019); ab -n 10000, later wrk'
question "Does the server matter for the shortest page that Rails has? Do more threads serve more of these pages?"
design "A Rails 7.2 app of one route and one controller. Five servers by their own defaults, as a model on Cuttle and
        themselves, at 1, 2 and 6 connections that are closed after each response, as ab does; Passenger with one
        process for one connection, and six for more, which it starts by itself. Puma with up to 8 processes of up to 8
        threads, at 100 connections that persist, as wrk's do."
flaw "Only a chart was published for all servers, and in words an order and rough ratios."
flaw "Passenger starts up to six processes where the others had one: that it gains most from more connections is no
      merit of its model."
flaw "wrk and the server were on one machine, and what else they shared is not known."

app "hello-rails"
rounds 3 # a start of Rails takes seconds
warmup 1
charts = { "s3.1" => 1, "s3.3" => 2, "s3.4" => 6 }

published "s3_hello_servers.csv", only: /\As3\.[13457]\z/ do |row|
  next skip("the same app under several Rubies: see the study of Rubies") if row.id == "s3.5"
  next skip("published as an order (#{row["ordering"]}); measured server by server") if charts.key?(row.id)

  workers = row.number("workers")
  serve like: "puma", engine: "hybrid", workers: workers > 1 ? workers : 0, threads: row.number("threads"),
        keep_alive: true,
        original: "puma"
  ask get("/"), connections: row.number("concurrency"), requests: 3000
end

servers = {
  "puma" => { like: "puma", engine: "hybrid", threads: 5, original: "puma" },
  "thin" => { like: "thin", engine: "reactor", original: "thin:evented" },
  "passenger" => { like: "passenger", engine: "reactor", original: "passenger" },
  "unicorn" => { like: "unicorn", engine: "single", workers: 1, original: "unicorn" },
  "webrick" => { like: "webrick", engine: "threads", threads: 0, original: "webrick" }
}
charts.to_a.product(servers.to_a).each do |(id, concurrency), (server, numbers)|
  trial id, server: server do
    serve(**numbers, **(server == "passenger" ? { workers: concurrency > 1 ? 6 : 1 } : {}))
    ask get("/"), connections: concurrency, requests: 10_000
  end
end

of = ->(id, server) { rate(id, server: server) }
claim "s3.1", on: :originals, "Unicorn by Puma" => [of["s3.1", "unicorn"], of["s3.1", "puma"], 0.6..0.8],
              "WEBrick by Puma" => [of["s3.1", "webrick"], of["s3.1", "puma"], 0.6..0.8]
expect "s3.1.order", "on a hello-world Rails app, one connection: Puma, Thin, Passenger, then Unicorn and WEBrick",
       on: :originals,
       "Puma by Thin" => [of["s3.1", "puma"], of["s3.1", "thin"], 1..],
       "Thin by Passenger" => [of["s3.1", "thin"], of["s3.1", "passenger"], 1..],
       "Passenger by Unicorn" => [of["s3.1", "passenger"], of["s3.1", "unicorn"], 1..],
       "WEBrick by Unicorn" => [of["s3.1", "webrick"], of["s3.1", "unicorn"], 0.9..1.1]
expect "s3.3", "Passenger gains most from a second connection", cores: 2,
       "Passenger, 2 connections by 1" => [of["s3.3", "passenger"], of["s3.1", "passenger"], 1.3..],
       "Puma, 2 by 1" => [of["s3.3", "puma"], of["s3.1", "puma"], ..1.3],
       "Thin, 2 by 1" => [of["s3.3", "thin"], of["s3.1", "thin"], ..1.3]
expect "s3.4", "with six connections Passenger is far ahead, and Puma and Thin gain little", cores: 2,
       "Passenger by Puma, at 6" => [of["s3.4", "passenger"], of["s3.4", "puma"], 1.5..],
       "Puma, 6 connections by 1" => [of["s3.4", "puma"], of["s3.1", "puma"], ..1.3],
       "Thin, 6 by 1" => [of["s3.4", "thin"], of["s3.1", "thin"], ..1.3]

puma = ->(workers, threads) { rate("s3.7", workers: workers, threads: threads) }
claim "s3.7", "one process: 2 threads by 1" => [puma[1, 2], puma[1, 1], ..1],
              "4 threads by 1" => [puma[1, 4], puma[1, 1], ..1],
              "4 processes: 2 threads by 1" => [puma[4, 2], puma[4, 1], ..1],
              "8 threads by 1" => [puma[4, 8], puma[4, 1], ..1]
expect "s3.7.cpu", "what it costs is CPU time: a request takes more of it where two threads run on two cores", cores: 2,
       "one process: CPU time of a request, 2 threads by 1" =>
         [cpu("s3.7", workers: 1, threads: 2), cpu("s3.7", workers: 1, threads: 1), 1.2..]
