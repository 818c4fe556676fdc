# frozen_string_literal: true

title "Hello, world on Rack, from five servers"
source 'N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019); ab -n 10000'
question "How far apart are servers if the app takes no time?"
design "One process of each server by its own defaults, as a model on Cuttle and itself; one connection at a time,
        closed after each response, as ab does; 10,000 requests."
flaw "Only a chart was published, and in words an order and rough ratios."
flaw "With one connection, the tester's time and the network's are in each response: slow servers look faster than they
      are beside fast ones."

app "hello"
rounds 5

published "s3_hello_servers.csv", only: /\As3\.[26]\z/ do |row|
  next skip("what a coarse tester hides: see the study of testers") if row.id == "s3.6"

  skip("published as an order (#{row["ordering"]}); measured server by server")
end

{
  "puma" => { like: "puma", engine: "hybrid", threads: 5, original: "puma" },
  "thin" => { like: "thin", engine: "reactor", original: "thin:evented" },
  "passenger" => { like: "passenger", engine: "reactor", workers: 1, original: "passenger" },
  "unicorn" => { like: "unicorn", engine: "single", workers: 1, original: "unicorn" },
  "webrick" => { like: "webrick", engine: "threads", threads: 0, original: "webrick" }
}.each do |server, numbers|
  trial "s3.2", server: server do
    serve(**numbers)
    ask get("/"), connections: 1, requests: 10_000
  end
end

puma_by_webrick = [rate("s3.2", server: "puma"), rate("s3.2", server: "webrick")]
claim "s3.2", on: :originals, "Puma by WEBrick" => [*puma_by_webrick, 2..]
expect "s3.2.model", "on one core, their models differ less: most of it comes from the implementation", on: :ours,
       "Puma's model by WEBrick's" => [*puma_by_webrick, ..2]
