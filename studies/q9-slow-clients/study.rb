# frozen_string_literal: true

title "Slow clients"
source 'Left open by all five: the load was beside the server, but for one line of K. Haines, "Web Server Concurrency",
        RubyKaigi 2016'
question "A distant client needs a long time to send its request and to read the response. What waits for it: the
          server's buffers, or the thread that runs the app?"
design "Responses of 20,000 octets to 100 clients that are near, and to 100 that are 40 ms away and take 100 kB a
        second; of 4,000,000 octets, more than the system's buffers hold (of 1,000,000 they held enough to hide the
        difference), to 6 that are 40 ms away and take 5 MB a second. An app that answers at once, a connection for each
        request, every model alone and with 2 workers; threads and hybrid have 5 threads in each process; one core for
        the server."

rounds 3
warmup 0.1

engines = { "single" => {}, "threads" => { threads: 5 }, "reactor" => {}, "hybrid" => { threads: 5 }, "fibers" => {} }
clients = {
  "near" => [20_000, { connections: 100, requests: 8000 }],
  "far" => [20_000, { connections: 100, requests: 600, delay: 0.04, bandwidth: 100_000 }],
  "large" => [4_000_000, { connections: 6, requests: 40, delay: 0.04, bandwidth: 5_000_000 }]
}

engines.to_a.product([0, 2], clients.to_a).each do |(engine, numbers), workers, (name, (octets, load))|
  trial "q9", engine: engine, workers: workers, clients: name do
    serve engine: engine, workers: workers, **numbers
    ask work(cpu_ms: 0, iowait_ms: 0, response_chars: octets), **load
  end
end

# Two round trips, and the time that the response takes on the line.
possible = 100 / (0.16 + 0.2)

expect "q9.1", "near clients see no difference: the models differ little",
       "single by reactor" => [rate("q9", engine: "single", workers: 0, clients: "near"),
                               rate("q9", engine: "reactor", workers: 0, clients: "near"), 0.5..1.5]
expect "q9.2", "a model that buffers serves slow clients as fast as they can send and read",
       **%w[reactor hybrid fibers].to_h { |engine|
         ["#{engine}: rate by #{possible.round}/s",
          [rate("q9", engine: engine, workers: 0, clients: "far"), possible, 0.85..1.05]]
       }
expect "q9.3", "a model that blocks serves them as many at a time as it has threads",
       "single by reactor" => [rate("q9", engine: "single", workers: 0, clients: "far"),
                               rate("q9", engine: "reactor", workers: 0, clients: "far"), ..0.3],
       "5 threads by reactor" => [rate("q9", engine: "threads", workers: 0, clients: "far"),
                                  rate("q9", engine: "reactor", workers: 0, clients: "far"), ..0.7],
       "single with 2 workers by reactor" => [rate("q9", engine: "single", workers: 2, clients: "far"),
                                              rate("q9", engine: "reactor", workers: 0, clients: "far"), ..0.5]
expect "q9.4", "even more so if the response is larger than the system's buffers",
       "single by reactor" => [rate("q9", engine: "single", workers: 0, clients: "large"),
                               rate("q9", engine: "reactor", workers: 0, clients: "large"), ..0.5],
       "hybrid by reactor: its threads are free while buffers drain" =>
         [rate("q9", engine: "hybrid", workers: 0, clients: "large"),
          rate("q9", engine: "reactor", workers: 0, clients: "large"), 0.9..1.1]
