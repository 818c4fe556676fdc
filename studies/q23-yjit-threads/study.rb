# frozen_string_literal: true

title "YJIT and threads"
source "A question of our own: the publications are older than YJIT"
question "Does the gain from YJIT depend on the number of threads?"
design "A page of a hundred rows, made by ERB; hybrid with 1 and 16 threads, and Puma, without and with YJIT; 16
        connections that are kept alive; one core for the server, one for the load."

app "page.ru"
warmup 2

jits = { "none" => "0", "yjit" => "1" } # RUBY_YJIT_ENABLE
[1, 16].product(jits.to_a).each do |threads, (jit, value)|
  trial "q23", threads: threads, jit: jit do
    serve engine: "hybrid", threads: threads, keep_alive: true, environment: { "RUBY_YJIT_ENABLE" => value },
          original: "puma"
    ask get("/"), connections: 16, requests: 10_000
  end
end

gain = lambda do |metric, threads|
  jits.keys.reverse.map { |jit| send(metric, "q23", threads: threads, jit: jit) }
end
expect "q23.1", "YJIT makes the page faster with one thread, and with 16",
       **[1, 16].to_h { |threads| ["#{threads} threads: with YJIT by without", [*gain[:rate, threads], 1.05..]] }
expect "q23.2", "with YJIT, more threads cost no throughput",
       "with YJIT: 16 threads by 1" => [rate("q23", threads: 16, jit: "yjit"), rate("q23", threads: 1, jit: "yjit"),
                                        0.95..]
expect "q23.3", "it takes less than a quarter more memory",
       **[1, 16].to_h { |threads| ["#{threads} threads: with YJIT by without", [*gain[:memory, threads], ..1.25]] }
