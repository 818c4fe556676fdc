# frozen_string_literal: true

# The process that a lab starts as "swiftiply": with APP loaded, and the arguments PORT BACKEND_PORT WORKERS FILE.
# Swiftiply is a router. Backends connect to it, and serve one request at a time over that connection. This process
# forks the backends and becomes the router. Each backend ends when the router does.

require "swiftcore/Swiftiply/swiftiply_client"
require "yaml"
require_relative "adapter"

PORT, BACKEND_PORT, WORKERS, FILE = ARGV

# The connection of a backend to the router.
class Backend < SwiftiplyClientProtocol
  AGAIN = 0.05 # seconds until the next attempt, while the router starts

  class << self
    attr_accessor :adapter
  end

  def post_init
    @received = +""
  end

  def connection_completed
    @connected = true
    super
  end

  def receive_data(data)
    @received << data
    ending = @received.index(Adapter::ENDING) or return
    status, headers, text = Backend.adapter.answer(@received.slice!(0, ending + Adapter::ENDING.length))
    type = headers.find { |name, _| name.casecmp?("content-type") }&.last
    send_http_data(text, { "Content-Type" => type || "text/plain" }, status, "OK")
  end

  def unbind
    return EventMachine.stop if @connected

    EventMachine.add_timer(AGAIN) { Backend.connect("127.0.0.1", BACKEND_PORT.to_i) }
  end
end

# The inactivity limit would close connections that wait for a request, and so end a backend.
SwiftiplyClientProtocol.inactivity_timeout = 0
Backend.inactivity_timeout = 0

WORKERS.to_i.times do
  fork do
    Backend.adapter = Adapter.new(APP, PORT)
    EventMachine.run { Backend.connect("127.0.0.1", BACKEND_PORT.to_i) }
    exit!
  end
end

address = "127.0.0.1"
File.write(FILE, YAML.dump("cluster_address" => address, "cluster_port" => PORT.to_i, "daemonize" => false,
                           "map" => [{ "incoming" => address, "outgoing" => "#{address}:#{BACKEND_PORT}",
                                       "default" => true }]))
ARGV.replace(["-c", FILE])
load Gem.bin_path("swiftiply", "swiftiply")
