# frozen_string_literal: true

title "A parser, and a regular expression"
source 'Left open by K. Haines, "Web Server Concurrency", RubyKaigi 2016, whose servers took requests apart with a
        regular expression'
question "What does a real HTTP parser cost in comparison? (The regular expressions recognize requests and let through
          what HTTP forbids: they are for this study alone, and don't serve in production.)"
design "Our reactor with its three parsers: native (C), pure (Ruby) and recognizer (regular expressions); the smallest
        app, 16 connections that are kept alive; one core for the server."

app "hello"
rounds 5

%w[native pure recognizer].each do |parser|
  trial "q18", parser: parser do
    serve engine: "reactor", keep_alive: true, flags: ["--parser", parser, "-e", "study"]
    ask get("/"), connections: 16, requests: 100_000
  end
end

claim "s4.19",
      "a parser in C by regular expressions" => [rate("q18", parser: "native"), rate("q18", parser: "recognizer"), 1..]
expect "q18.1", "a parser in Ruby is slower than regular expressions in Ruby",
       "a parser in Ruby by regular expressions" => [rate("q18", parser: "pure"), rate("q18", parser: "recognizer"),
                                                     ..1]
