# frozen_string_literal: true

title "Computing by the wall clock, and by CPU time"
source 'The app of J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013), and a flaw of it'
question "The published app computes until the clock says that 50 ms are over. While it waits for a core or for Ruby's
          lock, that clock goes on. How much does that flatter the results?"
design "50 ms of computing without waiting, by wall clock and by the thread's CPU time: 8 processes, and 8 threads of
        one; 8 connections on two cores."

cores 2

{ "8 processes" => { engine: "single", workers: 8 },
  "8 threads" => { engine: "hybrid", threads: 8 } }.each do |kind, server|
  %w[thread wall].each do |spin|
    trial "q11", server: kind, spin: spin do
      serve(**server)
      ask work(cpu_ms: 50, iowait_ms: 0, response_chars: 1000, spin: spin), connections: 8, requests: 300
    end
  end
end

expect "q11.1", "by wall clock, more processes than cores serve more than the cores can compute", cores: 2,
       "8 processes: by the wall, by CPU time" =>
         [rate("q11", server: "8 processes", spin: "wall"), rate("q11", server: "8 processes", spin: "thread"), 1.5..],
       "8 processes: by the wall, by what two cores can compute" => [rate("q11", server: "8 processes", spin: "wall"),
                                                                     40, 1.05..]
expect "q11.2", "and so do threads that wait for Ruby's lock",
       "8 threads: by the wall, by CPU time" =>
         [rate("q11", server: "8 threads", spin: "wall"), rate("q11", server: "8 threads", spin: "thread"), 1.5..]
expect "q11.3", "by CPU time, they serve what the cores can compute", cores: 2,
       "8 processes by 40 requests/s" => [rate("q11", server: "8 processes", spin: "thread"), 40, 0.9..1.03],
       "8 threads by 20 requests/s" => [rate("q11", server: "8 threads", spin: "thread"), 20, 0.9..1.03]
