# frozen_string_literal: true

title "One thread, a thread each, or a reactor, at the same concurrency"
source 'K. Haines, "Web Server Concurrency", RubyKaigi 2016; ab'
question "The published figures of a thread per request and of the reactor were measured at 100 connections, that of the
          single thread at one. How much of the difference remains if only the model changes?"
design "The Scrawls engines' models on Cuttle; a file of 1,078 octets that the app reads; a connection for each
        request; 1, 10 and 100 connections at once for each model. Connections that wait for the single thread wait in
        the kernel's backlog. The server has one core, the load the other."
flaw "Only Cuttle is measured: the Scrawls engines were never released to RubyGems."

app "scrawls.ru"
cores 1

engines = {
  "single" => { like: "scrawls-single", engine: "single" },
  "multithread" => { like: "scrawls-multithread", engine: "threads", threads: 0 },
  "reactor" => { like: "scrawls-simplereactor", engine: "reactor" }
}
connections = [1, 10, 100]

engines.each do |name, engine|
  connections.each do |number|
    trial "s4.same", engine: name, connections: number do
      serve(**engine)
      ask get("/test.txt"), connections: number, requests: 20_000
    end
  end
end

# The figures of an engine and of the single thread.
by_single = lambda do |metric, engine, number|
  [engine, "single"].map { |name| send(metric, "s4.same", engine: name, connections: number) }
end
statements = lambda do |engine, rates, costs|
  connections.to_h { |number| ["rate by one thread's, #{number} at once", [*by_single[:rate, engine, number], rates]] }
             .merge("CPU time by one thread's, 100 at once" => [*by_single[:cpu, engine, 100], costs])
end

claim "s4.7", **statements["multithread", ..1, 1..]
claim "s4.12", **statements["reactor", 1.., ..1]
