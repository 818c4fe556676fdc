# frozen_string_literal: true

title "The survey of servers: hello and slow, one connection at a time"
source 'K. Haines, "Web Server Concurrency", RubyKaigi 2016, which surveyed eleven servers after its own engines'
question "What is left of the differences between eleven servers, if each is measured as the engines were, with one
          connection? And does any of them add to a request that waits for a second?"
design "Each server of the survey that can be had by its own defaults in one process, and its model on Cuttle: a file
        of 1,078 octets that the app reads, and an app that waits 1 s; one connection at a time, closed after each
        response. ServerEngine has a small adapter for Rack; Swiftiply is the router that it was, before one process.
        The server has one core, the load the other."
flaw "The survey named models, and printed no rates."
flaw "Passenger is Debian's 6; the others are their last releases."

app "scrawls.ru"
cores 1

servers = {
  "webrick" => { like: "webrick", engine: "threads", threads: 0, original: "webrick" },
  "mongrel" => { like: "mongrel", engine: "threads", threads: 0, original: "mongrel" },
  "thin" => { like: "thin", engine: "reactor", original: "thin:evented" },
  "puma" => { like: "puma", engine: "hybrid", threads: 5, original: "puma" },
  "passenger" => { like: "passenger", engine: "reactor", workers: 1, original: "passenger" },
  "unicorn" => { like: "unicorn", engine: "single", workers: 1, original: "unicorn" },
  "serverengine" => { like: "serverengine", engine: "single", workers: 1, original: "serverengine" },
  "rainbows" => { like: "rainbows", engine: "threads", workers: 1, threads: 20, original: "rainbows" },
  "yahns" => { like: "yahns", engine: "hybrid", threads: 7, original: "yahns" },
  "goliath" => { like: "goliath", engine: "fibers", original: "goliath" },
  "swiftiply" => { like: "swiftiply", engine: "reactor", workers: 1, original: "swiftiply" }
}

servers.each do |name, numbers|
  trial "s4.survey", server: name, app: "hello" do
    serve(**numbers)
    ask get("/test.txt"), connections: 1, requests: 5_000
  end
  trial "s4.survey", server: name, app: "slow" do
    serve(**numbers)
    ask work(iowait_ms: 1000, cpu_ms: 0, response_chars: 16), connections: 1, requests: 20
  end
end

servers.each_key do |name|
  expect "s4.survey.#{name}", "#{name} adds less than 3% to a request that waits for a second",
         "requests/s by one a second" => [rate("s4.survey", server: name, app: "slow"), 1, 0.97..1.01]
end
