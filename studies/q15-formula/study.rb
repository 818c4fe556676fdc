# frozen_string_literal: true

title "Where curves top out"
source 'Left open by J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013), whose curves were not
        all flat at 20'
question "Does a formula predict the rate? For a given number of connections, workers and threads, the rate of requests
          that compute and wait can't exceed min(connections / time, slots / time, min(workers, cores) / CPU time)."
design "50 ms of computing and 250 ms of waiting on two cores, by each of our engines, 1 to 40 connections; requests of
        15 seconds, for a closed loop begins and ends with fewer under way; measured by that bound."

cores 2

cpu_time = 0.05
whole = 0.3
servers = {
  "single" => [{ engine: "single" }, 1, 1], "4 processes" => [{ engine: "single", workers: 4 }, 4, 4],
  "5 threads" => [{ engine: "hybrid", threads: 5 }, 1, 5],
  "2 of 5 threads" => [{ engine: "hybrid", workers: 2, threads: 5 }, 2, 10],
  "2 with fibers" => [{ engine: "fibers", workers: 2 }, 2, Float::INFINITY]
}

bounds = servers.to_h do |kind, (server, processes, slots)|
  [kind, [1, 5, 10, 20, 40].to_h do |connections|
    bound = [connections / whole, slots / whole, [processes, 2].min / cpu_time].min
    trial "q15", server: kind, connections: connections do
      serve(**server)
      ask work(cpu_ms: 50, iowait_ms: 250, response_chars: 1000), connections: connections, requests: (15 * bound).round
    end
    [connections, bound]
  end]
end

bounds.each.with_index(1) do |(kind, rates), number|
  expect "q15.#{number}", "the formula predicts the rate of #{kind} within 10%", cores: 2,
         **rates.to_h { |connections, bound|
           ["#{connections} at once by #{bound.round(1)}/s",
            [rate("q15", server: kind, connections: connections), bound, 0.9..1.03]]
         }
end
