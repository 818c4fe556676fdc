# frozen_string_literal: true

title "Requests that wait often: the convoy at the GVL"
source "A question of our own, for `cuttle tune`: the publications' apps waited once in a request"
question "A thread that has waited needs the GVL again, and queues behind threads that compute. Does a request that
          waits ten times take longer than one that waits once for the same total time?"
design "50 ms of computing in all, and 150 ms of waiting in one piece, in 3 and in 10, or none; uneven requests
        (log-normal, coefficient of variation 1), 5 and 16 threads of one process, 16 connections in a closed loop."

cores 1

waits = [0, 1, 3, 10]
servers = { "5 threads" => 5, "16 threads" => 16 }

servers.each do |name, threads|
  waits.each do |number|
    trial "q21", server: name, waits: number do
      serve engine: "hybrid", threads: threads
      ask work(cpu_ms: 50, iowait_ms: number.zero? ? 0 : 150, slices: [number, 1].max, cv: 1, response_chars: 1000),
          connections: 16, requests: 200
    end
  end
end

ten_by_one = ->(metric, server) { [10, 1].map { |number| send(metric, "q21", server: server, waits: number) } }

expect "q21.1", "the number of waits hardly changes the rate",
       **servers.keys.to_h { |name| ["#{name}: 10 waits by 1", [*ten_by_one[:rate, name], 0.9..1.1]] }
expect "q21.2", "it hardly changes the median response time either",
       **servers.keys.to_h { |name| ["#{name}: p50 of 10 waits by 1", [*ten_by_one[:p50, name], 0.9..1.1]] }
