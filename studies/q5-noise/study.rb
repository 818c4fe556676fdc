# frozen_string_literal: true

title "Noise: the same configuration against itself"
source 'Left open by all five: each number was published from one run, or as a range of a few'
question "How far apart are two measurements of the same thing, in one run and at different times?"
design "Three copies of one configuration, each started anew in each of six blocks, in an order by chance: the same app
        (50 ms of computing, 250 of waiting; and one that answers at once), the same load."

cores 2
rounds 6

{ "app" => 300, "hello" => 100_000 }.each do |kind, requests|
  (1..3).each do |copy|
    trial "q5", app: kind, copy: copy do
      serve engine: "hybrid", workers: 2, threads: 5, keep_alive: true, copy: copy
      times = kind == "app" ? { cpu_ms: 50, iowait_ms: 250 } : { cpu_ms: 0, iowait_ms: 0 }
      ask work(**times, response_chars: 1000), connections: 8, requests: requests
    end
  end
end

expect "q5.1", "an app that mostly waits: the same comes out within 5% of itself",
       "second copy by the first" => [rate("q5", app: "app", copy: 2), rate("q5", app: "app", copy: 1), 0.95..1.05],
       "third copy by the first" => [rate("q5", app: "app", copy: 3), rate("q5", app: "app", copy: 1), 0.95..1.05]
expect "q5.2", "an app that answers at once: the same comes out within 5% of itself",
       "second copy by the first" => [rate("q5", app: "hello", copy: 2), rate("q5", app: "hello", copy: 1), 0.95..1.05],
       "third copy by the first" => [rate("q5", app: "hello", copy: 3), rate("q5", app: "hello", copy: 1), 0.95..1.05]
expect "q5.3", "its p99 comes out within 5% of itself",
       "app: second copy by the first" => [p99("q5", app: "app", copy: 2), p99("q5", app: "app", copy: 1), 0.95..1.05],
       "hello: second copy by the first" => [p99("q5", app: "hello", copy: 2), p99("q5", app: "hello", copy: 1), 0.95..1.05]
