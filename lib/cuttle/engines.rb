# frozen_string_literal: true

require "cuttle/engines/auto"
require "cuttle/engines/pool"
require "cuttle/engines/traits"

module Cuttle
  # The concurrency models. An engine decides when to accept, how to wait, where the app runs and how bytes leave.
  # Everything else is in its source (a core's Poller or Acceptor, see Cores) and its service.
  # The contract of every engine:
  #
  #   Engine::TRAITS                       its Traits: all that other code knows about an engine
  #   Engine.source(listeners, core:, **options)
  #           its source; made in the process that serves
  #   Engine.new(source:, service:, threads:, max_fibers:, ractors:)
  #   #run    serves; returns when it was stopped and has answered every request that it took
  #   #stop(leave_backlog: false)
  #           from any thread and from a trap handler: sets a flag and writes to a descriptor. Requests in the backlog
  #           are answered, or left to other processes that continue to accept from the same listeners
  #   #stats  => Hash of Integers: connections, accepted, requests, dropped, threads, busy
  #
  # An engine ignores options that don't concern it, and has no defaults of its own: the settings have them. Its file
  # requires the others that it needs, so that they are loaded with it: once, before workers are forked.
  # service.call(exchange) answers one request. It raises only what belongs to Ruby or to a forked child. Such
  # exceptions pass through the engine (Rack::Adapter.pass?).
  module Engines
    extend Catalogue

    # Why this Ruby can't run the engine with that name; nil if it can. Raises UsageError for an unknown name.
    def self.unavailable(name)
      engine = fetch(name)
      engine.unavailable if engine.respond_to?(:unavailable)
    end

    # The Traits of the engine with that name. Raises UsageError for an unknown name.
    def self.traits(name)
      fetch(name)::TRAITS
    end

    list "engine", "cuttle/engines", {
      "single" => ["Single", "one connection at a time: CPU-bound apps, with -w N behind a buffering proxy"],
      "threads" => ["Threads", "blocking I/O, a thread per connection (-t 0) or a pool: few clients, apps that wait"],
      "reactor" => ["Reactor", "evented I/O, the app inline on the one thread: fast apps that never wait"],
      "hybrid" => ["Hybrid", "evented I/O, the app on N threads: Rails and most apps; the default"],
      "fibers" => ["Fibers", "evented I/O, a fiber per request: thousands of requests that wait"],
      "ractors" => ["Ractors", "hybrid in each of N ractors of a process: Ruby 4, experimental"]
    }
  end
end
