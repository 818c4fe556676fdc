# frozen_string_literal: true

title "A cache before the app"
source 'Left open by N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019), where Passenger was far ahead: it
        caches responses that allow it, unless caching is turned off'
question "How large a lead does a cache give if it is on by default, and does the server deserve credit for it?"
design "Responses that may be cached for a minute, sent at once or after 2 ms of computing; Passenger with and without
        its cache, ours behind HAProxy with and without a cache, and ours alone; 2 processes of 1 slot, 8 keep-alive
        connections, one core for the server. All requests are for the same page, the best case for a cache."

app "cacheable.ru"
rounds 4

servers = {
  "passenger" => ->(row) { row.other "passenger", workers: 2, keep_alive: true },
  "passenger, caching" => ->(row) { row.other "passenger:turbocached", workers: 2, keep_alive: true },
  "behind haproxy" => ->(row) { row.other "haproxy:leastconn", workers: 2, keep_alive: true },
  "behind haproxy, caching" => ->(row) { row.other "haproxy:cached", workers: 2, keep_alive: true },
  "alone" => ->(row) { row.serve engine: "hybrid", workers: 2, keep_alive: true }
}
pages = { "at once" => ["/", 20_000], "2 ms" => ["/page", 4000] }

servers.each do |name, server|
  pages.each do |page, (path, requests)|
    trial "q8", server: name, page: page do
      server.call(self)
      ask get(path), connections: 8, requests: requests
    end
  end
end

expect "q8.1", "Passenger's lead comes from its cache, not from how it runs apps",
       "a page that is there at once: with the cache by without" =>
         [rate("q8", server: "passenger, caching", page: "at once"), rate("q8", server: "passenger", page: "at once"),
          1.5..],
       "a page of 2 ms: with the cache by without" =>
         [rate("q8", server: "passenger, caching", page: "2 ms"), rate("q8", server: "passenger", page: "2 ms"), 5..]
expect "q8.2", "without the cache, the app limits the rate, whichever server runs it",
       "a page of 2 ms: Passenger by ours" => [rate("q8", server: "passenger", page: "2 ms"),
                                               rate("q8", server: "alone", page: "2 ms"), 0.8..1.05]
expect "q8.3", "any server gets the same lead from a router that caches",
       "a page of 2 ms: HAProxy with a cache by without" =>
         [rate("q8", server: "behind haproxy, caching", page: "2 ms"),
          rate("q8", server: "behind haproxy", page: "2 ms"), 5..],
       "a page of 2 ms: HAProxy's cache by Passenger's" =>
         [rate("q8", server: "behind haproxy, caching", page: "2 ms"),
          rate("q8", server: "passenger, caching", page: "2 ms"), 0.5..]
