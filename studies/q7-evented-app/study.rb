# frozen_string_literal: true

title "An evented server with an evented app"
source 'Left open by J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013): never run'
question "How much does an evented server serve if the app yields while it waits?"
design "The same app, 50 ms of computing and 250 ms of waiting, on a reactor (where its waiting blocks), on fibers
        (where it yields, without a changed line), and on threads; 1, 10 and 40 connections; one process."

cores 2

servers = {
  "reactor" => { engine: "reactor", like: "thin", original: "thin:evented" },
  "fibers" => { engine: "fibers", like: "falcon" },
  "5 threads" => { engine: "hybrid", threads: 5, like: "puma", original: "puma" },
  "40 threads" => { engine: "hybrid", threads: 40, like: "puma", original: "puma" }
}

servers.each do |kind, server|
  [1, 10, 40].each do |connections|
    trial "q7", server: kind, connections: connections do
      serve(**server)
      other "falcon", workers: 1 if kind == "fibers"
      ask work(cpu_ms: 50, iowait_ms: 250, response_chars: 20_091),
          connections: connections, requests: kind == "reactor" ? 60 : 60 + (6 * connections)
    end
  end
end

control rate("q7", server: "fibers", connections: 40)

claim "s0.15", "fibers by a reactor whose app blocks, 10 at once" =>
                 [rate("q7", server: "fibers", connections: 10), rate("q7", server: "reactor", connections: 10), 4..],
               "fibers by a pool of 5 threads, 40 at once" =>
                 [rate("q7", server: "fibers", connections: 40), rate("q7", server: "5 threads", connections: 40), 1..]
expect "q7.1", "fibers serve what as many threads as connections serve",
       "40 at once, by 40 threads" =>
         [rate("q7", server: "fibers", connections: 40), rate("q7", server: "40 threads", connections: 40), 0.95..1.05]
