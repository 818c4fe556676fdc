# frozen_string_literal: true

title "Uneven response times"
source 'Left open by J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013)'
question "Every request of the published experiments took equally long. How do varying response times affect servers
          with the same number of slots: four processes, two processes of two threads, or four threads?"
design "10 ms of computing and 290 ms of waiting in the mean, always so or log-normal with a coefficient of variation of
        1 or 2; four slots, six connections in a closed loop."

cores 2
rounds 5

servers = {
  "4x1" => { engine: "single", workers: 4 },
  "2x2" => { engine: "hybrid", workers: 2, threads: 2 },
  "1x4" => { engine: "hybrid", threads: 4 }
}

servers.each do |slots, server|
  [0, 1, 2].each do |cv|
    trial "q1", slots: slots, cv: cv do
      serve(**server)
      ask work(cpu_ms: 10, iowait_ms: 290, cv: cv, response_chars: 1000), connections: 6, requests: 600
    end
  end
end

expect "q1.1", "uneven response times lengthen the tail of every split of four slots",
       **servers.keys.to_h { |slots|
         ["#{slots}: p99 with cv 2 by p99 with even times",
          [p99("q1", slots: slots, cv: 2), p99("q1", slots: slots, cv: 0), 2..]]
       }
expect "q1.2", "they cost no throughput: a free thread or process takes the next request",
       **servers.keys.to_h { |slots|
         ["#{slots}: rate with cv 1 by that with even times",
          [rate("q1", slots: slots, cv: 1), rate("q1", slots: slots, cv: 0), 0.9..1.1]]
       }
expect "q1.3", "processes that share one listening socket have the tail of threads in one process",
       "p90 of 4x1 by that of 1x4, cv 2" => [p90("q1", slots: "4x1", cv: 2), p90("q1", slots: "1x4", cv: 2), 0.8..1.25]
