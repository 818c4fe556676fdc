# frozen_string_literal: true

title "Noise: the same configuration against itself"
source "Left open by all five: each number was published from one run, or as a range of a few"
question "How far apart are two measurements of the same thing, in one run and at different times?"
design "Two copies of one configuration, each started again in each of ten rounds, in random order: the same app (50 ms
        of computing, 250 of waiting; and one that answers at once), the same load. How far the larger is from the
        smaller: of the two copies in one round, and of one copy in a round and the next one, which is later."

cores 1
rounds 10

{ "app" => 300, "hello" => 100_000 }.each do |kind, requests|
  (1..2).each do |copy|
    trial "q5", app: kind, copy: copy do
      serve engine: "hybrid", workers: 2, threads: 5, keep_alive: true, copy: copy
      times = kind == "app" ? { cpu_ms: 50, iowait_ms: 250 } : { cpu_ms: 0, iowait_ms: 0 }
      ask work(**times, response_chars: 1000), connections: 8, requests: requests
    end
  end
end

{ "app" => "an app that mostly waits",
  "hello" => "an app that answers at once" }.each.with_index(1) do |(kind, app), number|
  copies = ->(metric) { [1, 2].map { |copy| public_send(metric, "q5", app: kind, copy: copy) } }
  expect "q5.#{number}", "#{app}: two rates of the same configuration are within 5% of each other",
         "two copies in one round" => apart(*copies[:rate], ..1.05),
         "one copy, round by round" => apart(copies[:rate].first, ..1.05)
  expect "q5.#{number}.p99", "#{app}: so are two values of p99",
         "two copies in one round" => apart(*copies[:p99], ..1.05),
         "one copy, round by round" => apart(copies[:p99].first, ..1.05)
end
