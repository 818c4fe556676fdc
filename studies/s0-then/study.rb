# frozen_string_literal: true

title "Ten connections on former releases"
source 'J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013); ab -n 500'
question "Are the claims about Thin, Unicorn, Puma and WEBrick claims about their models, or about their releases of
          that time?"
design "The app of s0-ab, under the last available releases of former series (Thin 1.6, Unicorn 4 and 5, Puma 3, WEBrick
        1.4), beside today's. 10 connections; each request opens one of its own. Puma 2 and Passenger 5 can't
        be had: docs/study.md has the reasons. As in s0-ab, what the claims on threads rest on has full length at any
        scale; 300 requests, or as many as a percentile needs."
flaw "Ruby is 3.1, not 1.9.3: only the servers are former releases."
flaw "The app computes by the wall clock: see s0-ab."

cores :all
fake_work = { cpu_ms: 50, iowait_ms: 250, response_chars: 20_091, spin: "wall" }

# What is asked => by time: a server as the lab knows it, with its numbers.
servers = {
  "thin evented" => { "then" => ["thin-1.6:evented", {}], "today" => ["thin:evented", {}] },
  "thin threaded" => { "then" => ["thin-1.6:threaded", { threads: 20 }],
                       "today" => ["thin:threaded", { threads: 20 }] },
  "4 processes" => { "then" => ["unicorn-4", { workers: 4 }], "today" => ["unicorn", { workers: 4 }] },
  "4 processes of Unicorn 5" => { "then" => ["unicorn-5", { workers: 4 }], "today" => ["unicorn", { workers: 4 }] },
  "a thread each" => { "then" => ["webrick-1.4", { threads: 0 }], "today" => ["webrick", { threads: 0 }] },
  "16 threads" => { "then" => ["puma-3", { threads: 16 }], "today" => ["puma", { threads: 16 }] },
  "3x16 threads" => { "then" => ["puma-3", { workers: 3, threads: 16 }],
                      "today" => ["puma", { workers: 3, threads: 16 }] }
}

short = ["thin evented"]

servers.each do |setting, times|
  times.each do |time, (server, numbers)|
    full = !short.include?(setting)
    trial "s0.then", server: setting, of: time do
      other server, **numbers
      ask work(fake_work), connections: 10, requests: full ? 300 : 1000, full_length: full
    end
  end
end

control p99("s0.then", server: "3x16 threads", of: "then")

of = ->(metric, server, time = "then") { send(metric, "s0.then", server: server, of: time) }
expect "s0.then.4", "a former evented Thin with a blocking app is very even", on: :originals,
       "p90 by p50" => [of[:p90, "thin evented"], of[:p50, "thin evented"], ..1.1]
expect "s0.then.5", "a former Thin, threaded: the tail is very long", on: :originals,
       "p90 by p50" => [of[:p90, "thin threaded"], of[:p50, "thin threaded"], 8..]
expect "s0.then.8", "a threaded process of a former Puma serves more than four of a former Unicorn", on: :originals,
       "1x16 threads by 4 processes" => [of[:rate, "16 threads"], of[:rate, "4 processes"], 1..]
expect "s0.then.9", "three threaded processes of a former Puma serve more than one, with a long tail", on: :originals,
       "3x16 by 1x16" => [of[:rate, "3x16 threads"], of[:rate, "16 threads"], 1..],
       "p99 by p50" => [of[:p99, "3x16 threads"], of[:p50, "3x16 threads"], 2..]
expect "s0.then.same", "former releases serve as much as today's", on: :originals,
       **servers.keys.to_h { |name| ["#{name}: then by today", [of[:rate, name], of[:rate, name, "today"], 0.9..1.1]] }
