# frozen_string_literal: true

title "Several servers behind a router"
source 'Left open by J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013): one dyno was measured,
        and the platform has a router before several'
question "A router that knows nothing about its servers distributes requests at random or in turn. What does that cost,
          compared with a router that sends each request to the server with the fewest, and with one server whose
          workers share a listening socket?"
design "2 ms of computing and 60 ms of waiting in the mean, log-normal with a coefficient of variation of 1.5; four
        servers of one slot, or two of five threads, behind HAProxy, which draws one at random, takes them in turn, or
        takes the one with fewest connections; or as workers of one server. Requests at random times, at 70% of what the
        slots can serve, and twice as many connections as slots in a closed loop."
flaw "HAProxy uses a part of the servers' cores; the one server has them for itself."

cores 2
rounds 4
warmup 0.2

uneven = { cpu_ms: 2, iowait_ms: 60, cv: 1.5, response_chars: 1000 }
shapes = { "4 of 1 slot" => { workers: 4, threads: 1 }, "2 of 5 threads" => { workers: 2, threads: 5 } }
balances = %w[random roundrobin leastconn shared]

shapes.each do |shape, numbers|
  slots = numbers.values.inject(:*)
  loads = { "open" => { connections: 200, rate: (slots * 0.7 / 0.062).round, poisson: true,
                        requests: 150 + (45 * slots) },
            "closed" => { connections: 2 * slots, requests: 80 + (45 * slots) } }
  balances.product(loads.to_a).each do |balance, (kind, load)|
    trial "q3", servers: shape, balance: balance, loop: kind do
      if balance == "shared"
        serve engine: numbers[:threads] == 1 ? "single" : "hybrid", **numbers
      else
        other "haproxy:#{balance}", **numbers
      end
      ask work(uneven), **load
    end
  end
end

expect "q3.1", "requests wait longer if the router picks a server at random than if it picks the least connected one",
       **shapes.keys.to_h { |shape|
         ["#{shape}: p99 at random by p99 by fewest connections",
          [p99("q3", servers: shape, balance: "random", loop: "open"),
           p99("q3", servers: shape, balance: "leastconn", loop: "open"), 1.2..]]
       }
expect "q3.2", "taking the servers in turn does not solve that if a server has one slot",
       "4 of 1 slot: p90 in turn by p90 by fewest connections" =>
         [p90("q3", servers: "4 of 1 slot", balance: "roundrobin", loop: "open"),
          p90("q3", servers: "4 of 1 slot", balance: "leastconn", loop: "open"), 1.2..]
expect "q3.3", "a router that knows how many requests each server has is as good as one listening socket",
       **shapes.keys.to_h { |shape|
         ["#{shape}: p99 by fewest connections by p99 of one server",
          [p99("q3", servers: shape, balance: "leastconn", loop: "open"),
           p99("q3", servers: shape, balance: "shared", loop: "open"), 0.8..1.25]]
       }
expect "q3.4", "requests at random cost throughput as well: some slots are idle, while others have a queue",
       "4 of 1 slot: rate at random by rate by fewest connections" =>
         [rate("q3", servers: "4 of 1 slot", balance: "random", loop: "closed"),
          rate("q3", servers: "4 of 1 slot", balance: "leastconn", loop: "closed"), ..0.95]
expect "q3.5", "several threads in each server reduce the effect: half of the requests do not wait",
       "2 of 5 threads: p50 at random by p50 by fewest connections" =>
         [p50("q3", servers: "2 of 5 threads", balance: "random", loop: "open"),
          p50("q3", servers: "2 of 5 threads", balance: "leastconn", loop: "open"), ..1.25]
