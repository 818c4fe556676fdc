# frozen_string_literal: true

title "Ten users: one process of sixteen threads, or four that serve one request each"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); siege -b -t30s'
question "Does one process of threads serve more than four forked ones if requests wait for five sixths of their time,
          and less if they wait for half of it? Do four processes of threads serve more than both?"
design "The pairs of s0-sweeps that its claims compare, with requests twice as long: 50 ms of computing and 250 ms of
        waiting, or 50 and 50. At that scale the load takes 5% of the core that it shares with the servers; here it
        takes half of that. One connection shows what a request takes alone."
flaw "The app computes by the wall clock: see s0-ab."

cores :all
rounds 5

servers = {
  "1x16" => { like: "puma", engine: "hybrid", workers: 0, threads: 16 },
  "4x16" => { like: "puma", engine: "hybrid", workers: 4, threads: 16 },
  "4x1" => { like: "unicorn", engine: "single", workers: 4 }
}
waits = { "50/250" => 250, "50/50" => 50 }

ask_both = lambda do |processes, connections, apps = waits.keys|
  apps.each do |app|
    trial "s0.pairs", app: app, processes: processes, connections: connections do
      serve(**servers.fetch(processes))
      ask work(cpu_ms: 50, iowait_ms: waits.fetch(app), response_chars: 20_091, spin: "wall"),
          connections: connections, requests: 100 + (110 * connections)
    end
  end
end

ask_both["1x16", 1]
servers.each_key { |processes| ask_both[processes, 10] }
ask_both["4x16", 20, ["50/250"]]

of = lambda do |app, processes, connections = 10|
  rate("s0.pairs", app: app, processes: processes, connections: connections)
end

control of["50/250", "4x1"]

# On two cores, 4x16 can't serve 1.2 times as much at 20 connections, and 4 processes of one thread use both.
claim "s0.11", "4x16 at 20 connections by that at 10: not topped out" =>
                 on_cores(4, of["50/250", "4x16", 20], of["50/250", "4x16"], 1.2..),
               "1x16 by 4 processes, at 10" => [of["50/250", "1x16"], of["50/250", "4x1"], 1..]
claim "s0.12", cores: 2, "1x16 by 4 processes, at 10" => [of["50/50", "1x16"], of["50/50", "4x1"], ..1],
                         "4x16 by 4 processes, at 10" => on_cores(4, of["50/50", "4x16"], of["50/50", "4x1"], 1..)
