# frozen_string_literal: true

# A program that stops its server from a trap handler, in which locks and most of Ruby are not allowed. ARGV: the
# engine's name. Prints its URL when it is ready, then "stopping" and "ended".
require "cuttle"
require "rack"

$stdout.sync = true
app = Rack::Builder.parse_file("#{__dir__}/app.ru")
app = app.first if app.is_a?(Array) # Rack 2
server = Cuttle::Server.new(app, engine: ARGV.fetch(0), core: ENV.fetch("CUTTLE_CORE"), keep_alive: true,
                                 drain_grace: 0.5)
trap("TERM") do
  server.stop_soon
  $stdout.syswrite("stopping\n")
end
puts server.url, "Ctrl-C stops"
server.run
puts "ended"
