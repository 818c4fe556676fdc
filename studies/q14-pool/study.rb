# frozen_string_literal: true

title "A pool of threads, and a thread for each connection"
source 'Left open by K. Haines, "Web Server Concurrency", RubyKaigi 2016'
question "His engine made a new thread for each request. How would a pool have performed?"
design "Cuttle's threads engine, with a new thread for each connection and with a pool of 16; responses that take no
        time, and responses that wait 1 s; 100 connections at once, each carrying one request."

app "scrawls.ru"

pools = { "a thread each" => 0, "16 threads" => 16 }
asked = {
  "fast" => [->(row) { row.get("/test.txt") }, 30_000],
  "slow" => [->(row) { row.work(iowait_ms: 1000, cpu_ms: 0) }, 300]
}

pools.each do |pool, threads|
  asked.each do |kind, (request, requests)|
    trial "q14", pool: pool, app: kind do
      serve engine: "threads", threads: threads
      ask request.call(self), connections: 100, requests: requests
    end
  end
end

claim "s4.18", "fast responses: a pool by a thread each" =>
                 [rate("q14", pool: "16 threads", app: "fast"), rate("q14", pool: "a thread each", app: "fast"), 1..]
expect "q14.1", "slow responses: a pool serves as many at once as it has threads, and no more",
       "a pool of 16 by 16 a second" => [rate("q14", pool: "16 threads", app: "slow"), 16, 0.9..1.02],
       "a thread each by 100 a second" => [rate("q14", pool: "a thread each", app: "slow"), 100, 0.85..1.02]
