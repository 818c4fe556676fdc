# frozen_string_literal: true

module Cuttle
  class Settings
    # --like SERVER: the concurrency model, the default numbers and the keep-alive behaviour of that server, on our
    # core. Settings that a server leaves open are left out here, so that the defaults and the environment apply.
    LIKES = {
      # A reactor that buffers requests, a pool of 5 threads on MRI, persistent_timeout 65 (8.0).
      "puma" => { engine: "hybrid", threads: 1..5, keep_alive: true, idle_timeout: 65 },
      # One worker by default; every response says Connection: close; 60 s for a request.
      "unicorn" => { engine: "single", workers: 1, keep_alive: false },
      # Unicorn's model and keep-alive. (Pitchfork differs in how it forks: from a warm worker.)
      "pitchfork" => { engine: "single", workers: 1, keep_alive: false },
      # The free edition: an evented front end that buffers and keeps connections, and 6 processes (max_pool_size)
      # behind it, each with one request at a time.
      "passenger" => { engine: "reactor", workers: 6, keep_alive: true },
      # Its ThreadPool model: 20 threads in each worker accept and block (worker_connections), keepalive_timeout 5.
      "rainbows" => { engine: "threads", threads: 20..20, workers: 1, keep_alive: true, idle_timeout: 5 },
      # Seven worker threads share one epoll, one process, client_timeout 15, persistent connections.
      "yahns" => { engine: "hybrid", threads: 7..7, keep_alive: true, idle_timeout: 15 },
      # The app runs inline in EventMachine's loop, persistent connections, timeout 30.
      "thin" => { engine: "reactor", keep_alive: true, idle_timeout: 30 },
      # thin --threaded: the app runs in a pool of 20 (threadpool_size) beside the loop.
      "thin-threaded" => { engine: "hybrid", threads: 20..20, keep_alive: true, idle_timeout: 30 },
      # A thread per connection, keep-alive, RequestTimeout 30.
      "webrick" => { engine: "threads", threads: 0..0, keep_alive: true, idle_timeout: 30 },
      # A thread per connection, which ends after one request.
      "mongrel" => { engine: "threads", threads: 0..0, keep_alive: false },
      # A framework for workers of any protocol, one by default; its documentation's example takes one connection at a
      # time and closes it.
      "serverengine" => { engine: "single", workers: 1, keep_alive: false },
      # An evented router that reads requests and hands each to a process with one request at a time; it closes every
      # connection.
      "swiftiply" => { engine: "reactor", workers: 1, keep_alive: false },
      # A process per CPU, a fiber per request, keep-alive.
      "falcon" => { engine: "fibers", workers: "auto", keep_alive: true },
      # One process, a fiber per request on EventMachine, keep-alive.
      "goliath" => { engine: "fibers", keep_alive: true },
      # In its ractor mode: a ractor per CPU, each with one thread.
      "kino" => { engine: "ractors", threads: 1..1, keep_alive: true },
      # Every engine of Scrawls closes the connection after the response.
      "scrawls-single" => { engine: "single", keep_alive: false },
      # As many processes as the study had CPUs.
      "scrawls-multiprocess" => { engine: "single", workers: "auto", keep_alive: false },
      "scrawls-multithread" => { engine: "threads", threads: 0..0, keep_alive: false },
      "scrawls-simplereactor" => { engine: "reactor", keep_alive: false },
      # A new thread for each request, without a limit. Ours needs a limit.
      "scrawls-simplereactor-threaded" => { engine: "hybrid", threads: 1..1000, keep_alive: false }
    }.freeze
  end
end
