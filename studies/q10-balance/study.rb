# frozen_string_literal: true

title "How workers share connections"
source 'Left open by K. Haines, "Web Server Concurrency", RubyKaigi 2016: forked processes wait on one listening socket'
question "The worker that accepts a connection gets its requests. Do four workers do equal work if each connection
          carries one request, and if connections stay open?"
design "50 ms of computing and 250 ms of waiting, four workers, 24 connections; the busiest worker's CPU time by an
        equal share (1 is even, 4 is all in one). Our workers tell each other how many connections each has, and leave
        new ones to those that have fewer; Puma's accept when they are free."

cores 2

engines = {
  "single" => { engine: "single" }, "reactor" => { engine: "reactor" }, "fibers" => { engine: "fibers" },
  "hybrid" => { engine: "hybrid", threads: 5, like: "puma", original: "puma" }
}

engines.each do |name, server|
  [false, true].each do |keep_alive|
    next if name == "single" && keep_alive # a client without one of its four connections would wait for ever

    trial "q10", server: name, connections: keep_alive ? "kept" : "closed" do
      serve(**server, workers: 4, keep_alive: keep_alive)
      ask work(cpu_ms: 50, iowait_ms: 250, response_chars: 1000), connections: 24, requests: 400
    end
  end
end

expect "q10.1", "with a connection for each request, workers share the work evenly",
       **engines.keys.to_h { |name|
         ["#{name}: busiest worker by an equal share", [spread("q10", server: name, connections: "closed"), 1, ..1.2]]
       }
expect "q10.2", "with connections that stay open, they don't: the worker that accepted a connection keeps it",
       **(engines.keys - ["single"]).to_h { |name|
         ["#{name}: busiest worker by an equal share", [spread("q10", server: name, connections: "kept"), 1, 1.2..]]
       }
