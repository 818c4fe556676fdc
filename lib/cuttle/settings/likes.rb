# frozen_string_literal: true

module Cuttle
  class Settings
    # --like SERVER: that server's concurrency model, its default numbers and its keep-alive habit, on our core. What
    # a server leaves to us is left out here, so that the defaults and the environment still count.
    LIKES = {
      # Reactor that buffers requests, a pool of 5 threads on MRI, persistent_timeout 65 (8.0).
      "puma" => { engine: "hybrid", threads: 1..5, keep_alive: true, idle_timeout: 65 },
      # One worker by default; every response says Connection: close; 60 s for a request.
      "unicorn" => { engine: "single", workers: 1, keep_alive: false },
      # Unicorn's model and habit (its own is how it forks: from a warm worker).
      "pitchfork" => { engine: "single", workers: 1, keep_alive: false },
      # The free edition: an evented front that buffers and keeps connections, 6 processes (max_pool_size) behind it,
      # each with one request at a time.
      "passenger" => { engine: "reactor", workers: 6, keep_alive: true },
      # Its ThreadPool model: 20 threads in each worker accept and block (worker_connections), keepalive_timeout 5.
      "rainbows" => { engine: "threads", threads: 20..20, workers: 1, keep_alive: true, idle_timeout: 5 },
      # Seven worker threads share one epoll, one process, client_timeout 15, persistent connections.
      "yahns" => { engine: "hybrid", threads: 7..7, keep_alive: true, idle_timeout: 15 },
      # The app inline in EventMachine's loop, persistent connections, timeout 30.
      "thin" => { engine: "reactor", keep_alive: true, idle_timeout: 30 },
      # thin --threaded: the app in a pool of 20 (threadpool_size) beside the loop.
      "thin-threaded" => { engine: "hybrid", threads: 20..20, keep_alive: true, idle_timeout: 30 },
      # A thread per connection, keep-alive, RequestTimeout 30.
      "webrick" => { engine: "threads", threads: 0..0, keep_alive: true, idle_timeout: 30 },
      # A thread per connection, which ends with its one request.
      "mongrel" => { engine: "threads", threads: 0..0, keep_alive: false },
      # A process per processor, a fiber per request, keep-alive.
      "falcon" => { engine: "fibers", workers: "auto", keep_alive: true },
      # One process, a fiber per request on EventMachine, keep-alive.
      "goliath" => { engine: "fibers", keep_alive: true },
      # Every engine of Scrawls closes after the response.
      "scrawls-single" => { engine: "single", keep_alive: false },
      # As many processes as the study had processors.
      "scrawls-multiprocess" => { engine: "single", workers: "auto", keep_alive: false },
      "scrawls-multithread" => { engine: "threads", threads: 0..0, keep_alive: false },
      "scrawls-simplereactor" => { engine: "reactor", keep_alive: false },
      # A new thread for each request, without a bound; ours has to have one.
      "scrawls-simplereactor-threaded" => { engine: "hybrid", threads: 1..1000, keep_alive: false }
    }.freeze
  end
end
