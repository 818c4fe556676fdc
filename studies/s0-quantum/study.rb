# frozen_string_literal: true

title "Ten users and an app that computes for 100 ms, at full length"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); siege -b -t30s'
question "Four processes of one thread against four of sixteen, where a request only computes: is there an advantage,
          and which has the longer tail? Ruby takes the GVL from a thread after 100 ms, which shorter requests would
          meet in another proportion: this study runs at full length only."
design "100 ms of computing and 1 ms of waiting, 10 connections in a closed loop, on two cores. The app
        computes by the wall clock, as the original's did, or for that much CPU time, as a real app does."
flaw "The app computes by the wall clock, so a request that waits for Ruby's lock counts that as work done."

cores 2
rounds 5
full_length

servers = {
  "4x1" => { like: "unicorn", engine: "single", workers: 4, original: "unicorn" },
  "4x16" => { like: "puma", engine: "hybrid", workers: 4, threads: 16, original: "puma" }
}
spins = %w[wall thread]

servers.each do |processes, server|
  spins.each do |spin|
    trial "s0.quantum", processes: processes, spin: spin do
      serve(**server)
      ask work(cpu_ms: 100, iowait_ms: 1, response_chars: 20_091, spin: spin), connections: 10, requests: 200
    end
  end
end

by_processes = lambda do |metric, spin|
  %w[4x16 4x1].map { |processes| send(metric, "s0.quantum", processes: processes, spin: spin) }
end

claim "s0.13", cores: 2, "4x16 by 4 processes, at 10: no advantage" => [*by_processes[:rate, "wall"], 0.9..1.1]
claim "s0.14", cores: 2, "p50 of 4x16 by that of 4 processes, at 10: alike" => [*by_processes[:p50, "wall"], 0.9..1.1],
               "p90 of 4x16 by that of 4 processes, at 10: theirs is better" => [*by_processes[:p90, "wall"], 1..]
expect "s0.quantum", "an app that really computes gains nothing from threads either, and has the longer tail with them",
       cores: 2, "4x16 by 4 processes" => [*by_processes[:rate, "thread"], 0.9..1.1],
       "p90 of 4x16 by that of 4 processes" => [*by_processes[:p90, "thread"], 1..]
