# frozen_string_literal: true

# A program whose listeners continue: at TERM its server leaves the backlog. ARGV: the options of the server as JSON.
# Prints its URL when it is ready, then "stopping", and at the end the number of connections that still wait.
require "cuttle"
require "json"
require "rack"

$stdout.sync = true
app = Rack::Builder.parse_file("#{__dir__}/app.ru")
app = app.first if app.is_a?(Array) # Rack 2
listeners = Cuttle::Listeners.open(["tcp://127.0.0.1:0"])
kept = listeners.copy
options = JSON.parse(ARGV.fetch(0), symbolize_names: true)
server = Cuttle::Server.new(app, core: ENV.fetch("CUTTLE_CORE"), listeners: listeners, drain_grace: 0.5, **options)
trap("TERM") do
  server.stop_soon(leave_backlog: true)
  $stdout.syswrite("stopping\n")
end
puts server.url, "Ctrl-C stops"
server.run
left = 0
left += 1 while kept.sockets.first.accept_nonblock(exception: false).is_a?(BasicSocket)
puts "left #{left}"
