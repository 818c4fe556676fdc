# frozen_string_literal: true

title "Many short responses instead of 20 KB"
source 'Left open by J. Rochkind, "Comparing MRI Rails App Server Performance on Heroku" (2013), whose responses had
        20,091 octets'
question "Does the size of the response hide the cost of the server?"
design "An app that does nothing but answer, with 16, 1,000 or 20,091 octets; 16 connections that are kept alive; one
        core for the server."

rounds 5

servers = {
  "reactor" => ->(row) { row.serve engine: "reactor", keep_alive: true },
  "hybrid" => ->(row) { row.serve engine: "hybrid", threads: 5, keep_alive: true },
  "fibers" => ->(row) { row.serve engine: "fibers", keep_alive: true },
  "puma" => ->(row) { row.other "puma", threads: 5, keep_alive: true }
}

servers.each do |name, server|
  [16, 1000, 20_091].each do |chars|
    trial "q4", server: name, octets: chars do
      server.call(self)
      ask work(cpu_ms: 0, iowait_ms: 0, response_chars: chars), connections: 16, requests: 200_000
    end
  end
end

expect "q4.1", "20 KB cost less than twice the CPU time of 16 octets: size does not explain how servers differ",
       **servers.keys.to_h { |name|
         ["#{name}: CPU time with 20,091 octets by that with 16",
          [cpu("q4", server: name, octets: 20_091), cpu("q4", server: name, octets: 16), ..2]]
       }
expect "q4.2", "servers differ several-fold with short responses, and still do with 20 KB",
       "hybrid by puma, 16 octets" => [rate("q4", server: "hybrid", octets: 16), rate("q4", server: "puma", octets: 16),
                                       3..],
       "hybrid by puma, 20,091 octets" =>
         [rate("q4", server: "hybrid", octets: 20_091), rate("q4", server: "puma", octets: 20_091), 2..]
