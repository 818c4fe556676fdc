# frozen_string_literal: true

# A server whose Ruby parser is slow, lets other threads run meanwhile, and reports on standard error when a second
# thread enters the same instance. ARGV: engine.
require "cuttle"

module Slowly
  %i[head chunks].each do |name|
    define_method(name) do |bytes|
      warn "entered twice" if @inside
      @inside = true
      sleep 0.002
      super(bytes)
    ensure
      @inside = false
    end
  end
end

Cuttle::Http::Parsers.fetch("pure").prepend(Slowly)
$stdout.sync = $stderr.sync = true
server = Cuttle::Server.new(->(_) { [200, { "content-type" => "text/plain" }, ["hello"]] }, engine: ARGV.fetch(0),
                                                                                          parser: "pure")
trap("TERM") { server.stop_soon }
puts server.url, "Ctrl-C stops"
server.run
