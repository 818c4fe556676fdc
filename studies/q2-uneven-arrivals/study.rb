# frozen_string_literal: true

title "Uneven arrivals"
source "Left open by all five: each asked in a closed loop, in which the next request waits until the last one is
        answered"
question "Users don't wait for each other. How long do they wait if they arrive evenly, and if they arrive at random?
          What would a closed loop have reported at the same rate?"
design "50 ms of computing and 250 ms of waiting, eight slots as 8 processes or 2 of 4 threads, and fibers; 17
        requests/s, about two thirds of what eight slots can serve, at a constant rate and as a Poisson process."

cores 2
rounds 5

servers = {
  "8 processes" => { engine: "single", workers: 8 },
  "2 of 4 threads" => { engine: "hybrid", workers: 2, threads: 4 },
  "2 with fibers" => { engine: "fibers", workers: 2 }
}

servers.each do |kind, server|
  [false, true].each do |poisson|
    trial "q2", server: kind, arrivals: poisson ? "poisson" : "constant" do
      serve(**server)
      ask work(cpu_ms: 50, iowait_ms: 250, response_chars: 1000),
          connections: 64, requests: 600, rate: 17, poisson: poisson
    end
  end
  trial "q2", server: kind, arrivals: "closed" do
    serve(**server)
    ask work(cpu_ms: 50, iowait_ms: 250, response_chars: 1000), connections: 6, requests: 400
  end
end

expect "q2.1", "at the same rate, users who arrive at random wait longer than users who arrive evenly",
       **servers.keys.to_h { |kind|
         ["#{kind}: p99 of Poisson arrivals by that of constant ones",
          [p99("q2", server: kind, arrivals: "poisson"), p99("q2", server: kind, arrivals: "constant"), 1.25..]]
       }
expect "q2.2", "a closed loop at about that rate doesn't show it",
       **servers.keys.to_h { |kind|
         ["#{kind}: p99 of Poisson arrivals by that in a closed loop",
          [p99("q2", server: kind, arrivals: "poisson"), p99("q2", server: kind, arrivals: "closed"), 1.1..]]
       }
