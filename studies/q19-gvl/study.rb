# frozen_string_literal: true

title "Threads without a GVL, processes, and ractors"
source "A question of our own, which the publications led to: they knew threads under the GVL and forked processes, and
        looked forward to JRuby and Guilds (today ractors)"
question "How much does one process of threads without a GVL serve (on JRuby), compared with threads under a GVL, two
          processes, and two ractors in one process?"
design "Three apps: hello; 10 ms of waiting, for 16 threads in all; arithmetic, asked for by 1 and by 16 connections,
        all kept alive. Cuttle's engine threads on JRuby with the core in Ruby, as JRuby starts and with its calls
        compiled to invokedynamic, and on MRI with YJIT: with the same core, with the one in C, and with that in two
        processes; its engine ractors, which needs Ruby 4. The servers have two cores. If there is no third one, the
        load shares the second: of hello, the CPU time then tells more than the rate. Each server is warmed up for
        each app until its rate is steady, for up to 60 s: on JRuby a hello takes two thirds of that."

app "models.ru"
cores 2
warmup 60

yjit = { "RUBYOPT" => "--yjit" }
indy = "JVM, invokedynamic"
servers = {
  "JVM" => ->(row) { row.other "jruby:threads", threads: 16, keep_alive: true },
  indy => lambda do |row|
    row.other "jruby:threads", threads: 16, keep_alive: true,
                               environment: { "JAVA_TOOL_OPTIONS" => "-Djruby.compile.invokedynamic=true" }
  end,
  "MRI, core in Ruby" => lambda do |row|
    row.serve engine: "threads", threads: 16, keep_alive: true, flags: %w[--core pure], environment: yjit
  end,
  "MRI" => ->(row) { row.serve engine: "threads", threads: 16, keep_alive: true, environment: yjit },
  "2 workers" => lambda do |row|
    row.serve engine: "threads", workers: 2, threads: 8, keep_alive: true, environment: yjit
  end,
  "2 ractors" => lambda do |row|
    row.serve engine: "ractors", workers: 2, threads: 8, keep_alive: true, environment: yjit
  end
}
# App and connections => requests.
asked = { ["hello", 16] => 100_000, ["wait", 16] => 8000, ["compute", 1] => 10_000, ["compute", 16] => 20_000 }

servers.each do |server, serve|
  asked.each do |(app, connections), requests|
    trial "q19", server: server, app: app, connections: connections do
      serve.call(self)
      ask get(app == "hello" ? "/" : "/#{app}"), connections: connections, requests: requests
    end
  end
end

compute = lambda do |server, connections|
  rate("q19", server: server, app: "compute", connections: connections)
end
hello = ->(metric, server) { send(metric, "q19", server: server, app: "hello") }
wait = ->(server) { rate("q19", server: server, app: "wait") }

expect "q19.1", "threads without a GVL compute on two cores", cores: 2,
       "JVM, 16 connections by 1" => [compute["JVM", 16], compute["JVM", 1], 1.7..],
       "JVM with invokedynamic, 16 connections by 1" => [compute[indy, 16], compute[indy, 1], 1.7..]
expect "q19.2", "threads with a GVL compute on one core", cores: 2,
       "MRI, 16 connections by 1" => [compute["MRI", 16], compute["MRI", 1], ..1.1]
expect "q19.3", "processes and ractors compute on two cores", cores: 2,
       "2 workers, 16 connections by 1" => [compute["2 workers", 16], compute["2 workers", 1], 1.7..],
       "2 ractors, 16 connections by 1" => [compute["2 ractors", 16], compute["2 ractors", 1], 1.7..]
expect "q19.4", "where the app waits, the model makes no difference", cores: 2,
       "JVM by MRI" => [wait["JVM"], wait["MRI"], 0.95..1.05],
       "2 workers by MRI" => [wait["2 workers"], wait["MRI"], 0.95..1.05],
       "2 ractors by MRI" => [wait["2 ractors"], wait["MRI"], 0.95..1.05]
expect "q19.5", "one process without a GVL computes at least as much as two with one", cores: 2,
       "JVM by 2 workers" => [compute["JVM", 16], compute["2 workers", 16], 1..],
       "JVM with invokedynamic by 2 workers" => [compute[indy, 16], compute["2 workers", 16], 1..],
       "JVM by 2 ractors" => [compute["JVM", 16], compute["2 ractors", 16], 1..],
       "JVM with invokedynamic by 2 ractors" => [compute[indy, 16], compute["2 ractors", 16], 1..]
expect "q19.6", "with the same core in Ruby, the rate of hello is higher without a GVL", cores: 2,
       "JVM by MRI, core in Ruby" => [hello["rate", "JVM"], hello["rate", "MRI, core in Ruby"], 1..],
       "JVM with invokedynamic by MRI, core in Ruby" => [hello["rate", indy], hello["rate", "MRI, core in Ruby"], 1..]
expect "q19.7", "with the core in C and a GVL, a hello takes less CPU time than on the JVM",
       "MRI by JVM" => [hello["cpu", "MRI"], hello["cpu", "JVM"], ..1],
       "MRI by JVM with invokedynamic" => [hello["cpu", "MRI"], hello["cpu", indy], ..1]
expect "q19.8", "a JVM takes more memory than two forked workers",
       "JVM by 2 workers" => [hello["memory", "JVM"], hello["memory", "2 workers"], 1..]
