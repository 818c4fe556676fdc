# frozen_string_literal: true

title "One request at a time, a thread each, a process each, or a reactor"
source 'K. Haines, "Web Server Concurrency", RubyKaigi 2016; ab'
question "How does each concurrency model perform with responses that take no time, and with responses that wait for a
          second?"
design "Each Scrawls engine's model on Cuttle; a file of 1,078 octets that the app reads, and an app that waits 1 s; a
        connection for each request. With 2,000 connections at once and more, the backlog of 1,024 overflows: the kernel
        asks again after 1 s, which shows in p99 of these rows. There are many requests for each of these connections,
        so that these seconds don't decide the rate. With few connections the load's core is the limit, so the reactor's
        rate declines by at least as much as is shown. From coast to coast: a file of 1,844 octets, 35 ms away each
        way."
flaw "single was measured at 1 connection, but the engine with threads at 100: s4-same has both at the same."
flaw "Slow responses had no status line, and ab counted them as failed."
flaw "Only means were published, and of the line from coast to coast nothing but that."

app "scrawls.ru"
coast_to_coast = 0.035 # seconds each way
engines = {
  "single" => { like: "scrawls-single", engine: "single" },
  "multiprocess" => { like: "scrawls-multiprocess", engine: "single" },
  "multithread" => { like: "scrawls-multithread", engine: "threads", threads: 0 },
  "reactor" => { like: "scrawls-simplereactor", engine: "reactor" },
  "reactor+threads" => { like: "scrawls-simplereactor-threaded", engine: "hybrid", threads: 1000 }
}

# Enough of them to tell a rate; a scale that leaves slow ones slow would make 100,000 take an hour.
fast = 20_000
each = 40 # for each connection at once

published "s4_web_server_concurrency.csv" do |row|
  next skip("memory: see the study of processes against threads") if row["app"] == "memory"

  processes, connections, requests = %w[processes concurrency requests].map { |name| row.number(name) }
  if row["engine"] == "webrick"
    serve like: "webrick", engine: "threads", threads: 0, original: "webrick"
  else
    serve(**engines.fetch(row["engine"]), workers: processes > 1 ? processes : 0)
  end
  case row["app"]
  when "fast" then ask get("/test.txt"), connections: connections, requests: [fast, each * connections].max
  when "slow"
    ask work(iowait_ms: 1000, cpu_ms: 0, response_chars: 16), connections: connections,
                                                              requests: requests || [5 * connections, 10_000].min
  else ask get("/small.txt"), connections: connections, requests: requests, delay: coast_to_coast
  end
end

claim "s4.3", cores: 4, "8 processes by one request at a time" => [rate("s4.3"), rate("s4.1"), 1..],
              "8 processes by a reactor" => [rate("s4.3"), rate("s4.12"), 1..]
claim "s4.8", "100 at once by 10 at once" => [rate("s4.9", concurrency: 100), rate("s4.9", concurrency: 10), 9..10.5],
              "200 at once by 10 at once" => [rate("s4.9", concurrency: 200), rate("s4.9", concurrency: 10), 17..21]
claim "s4.10", cores: 4, "8 processes by one, a thread per request in each" => [rate("s4.10"), rate("s4.7"), 1..]
claim "s4.13", "a reactor by a blocking loop" => [rate("s4.13"), rate("s4.2"), 0.97..1.03]
claim "s4.15", "10,000 connections by 10" => [rate("s4.15", concurrency: 10_000), rate("s4.15", concurrency: 10), 0.7..]
claim "s4.16",
      "a reactor with threads by one without, slow, 10 at once" => [rate("s4.16", concurrency: 10), rate("s4.13"), 5..]
