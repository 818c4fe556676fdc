# frozen_string_literal: true

title "Connections that are kept, and connections that are closed"
source "Left open by all five: ab opened a connection for each request"
question "How much of a published rate is the opening of connections?"
design "An app that answers at once, 4 connections, one core for the server; kept alive, and closed after each request."

rounds 5

servers = {
  "reactor" => { engine: "reactor", like: "thin", original: "thin:evented" },
  "threads" => { engine: "threads", threads: 5 },
  "hybrid" => { engine: "hybrid", threads: 5, like: "puma", original: "puma" },
  "fibers" => { engine: "fibers" }
}

servers.each do |name, server|
  [false, true].each do |keep_alive|
    trial "q13", server: name, connections: keep_alive ? "kept" : "closed" do
      serve(**server, keep_alive: keep_alive)
      ask work(cpu_ms: 0, iowait_ms: 0, response_chars: 1000), connections: 4, requests: 100_000
    end
  end
end

expect "q13.1", "keeping connections at least doubles the rate of a fast app",
       **servers.keys.to_h { |name|
         ["#{name}: kept by closed",
          [rate("q13", server: name, connections: "kept"), rate("q13", server: name, connections: "closed"), 2..]]
       }
expect "q13.2", "closing connections hides half of the difference between servers",
       "hybrid by reactor, kept" => [rate("q13", server: "hybrid", connections: "kept"),
                                     rate("q13", server: "reactor", connections: "kept"), 0.5..2],
       "hybrid by reactor, closed" =>
         [rate("q13", server: "hybrid", connections: "closed"), rate("q13", server: "reactor", connections: "closed"),
          0.8..1.25]
