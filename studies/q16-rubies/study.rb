# frozen_string_literal: true

title "Versions of Ruby"
source 'N. Gibbs, "Learn by Benchmarking Ruby App Servers Badly" (2019): 25 to 40% from Ruby 2.0 to 2.6'
question "How does a newer Ruby, or its just-in-time compiler, change the server's rate?"
design "A page of a hundred rows, made by ERB, so that the app computes in Ruby; the Rubies that are on this machine,
        each without and with YJIT; hybrid with 5 threads, 16 connections that are kept alive; one core for the server."

app "page.ru"
rounds 5
warmup 1

%w[3.1 3.3 3.4 4.0].each do |ruby|
  { "none" => nil, "yjit" => { "RUBYOPT" => "--yjit" } }.each do |jit, environment|
    trial "q16", ruby: ruby, jit: jit do
      serve engine: "hybrid", threads: 5, keep_alive: true, ruby: ruby, environment: environment
      ask get("/"), connections: 16, requests: 20_000
    end
  end
end

expect "q16.1", "in Ruby 3.1, YJIT makes a page that is rendered in Ruby faster",
       "with YJIT by without" => [rate("q16", ruby: "3.1", jit: "yjit"), rate("q16", ruby: "3.1", jit: "none"), 1.05..]
expect "q16.2", "Ruby 3.4 with YJIT serves that page faster than Ruby 3.1 with YJIT",
       "3.4 by 3.1" => [rate("q16", ruby: "3.4", jit: "yjit"), rate("q16", ruby: "3.1", jit: "yjit"), 1.05..]
expect "q16.3", "Ruby 4.0 with YJIT serves that page faster than Ruby 3.1 without",
       "4.0 with YJIT by 3.1" => [rate("q16", ruby: "4.0", jit: "yjit"), rate("q16", ruby: "3.1", jit: "none"), 1.05..]
