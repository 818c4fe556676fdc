# frozen_string_literal: true

title "A cache before the app"
source 'Left open by N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019), where Passenger was far ahead: it
        keeps responses that say that they may be kept, unless it is told not to'
question "How much of a lead is a cache that nobody asked for, and is it the server's merit?"
design "Responses that anybody may keep for a minute, at once or after 2 ms of computing; Passenger with its cache and
        without, ours behind HAProxy with a cache and without, and ours alone; 2 processes of 1 slot, 8 connections that
        are kept alive, one core for the server. All ask for the same page,
            which is the best that can happen to a cache."

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

expect "q8.1", "Passenger's cache is a lead that has nothing to do with how it serves",
       "a page that is there at once: with the cache by without" =>
         [rate("q8", server: "passenger, caching", page: "at once"), rate("q8", server: "passenger", page: "at once"),
          1.5..],
       "a page of 2 ms: with the cache by without" =>
         [rate("q8", server: "passenger, caching", page: "2 ms"), rate("q8", server: "passenger", page: "2 ms"), 5..]
expect "q8.2", "without it, what computes is the app, whoever serves",
       "a page of 2 ms: Passenger by ours" => [rate("q8", server: "passenger", page: "2 ms"),
                                               rate("q8", server: "alone", page: "2 ms"), 0.8..1.05]
expect "q8.3", "any server has the same lead behind a router that caches",
       "a page of 2 ms: HAProxy with a cache by without" =>
         [rate("q8", server: "behind haproxy, caching", page: "2 ms"),
          rate("q8", server: "behind haproxy", page: "2 ms"), 5..],
       "a page of 2 ms: HAProxy's cache by Passenger's" =>
         [rate("q8", server: "behind haproxy, caching", page: "2 ms"),
          rate("q8", server: "passenger, caching", page: "2 ms"), 0.5..]
