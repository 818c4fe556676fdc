# frozen_string_literal: true

# GET / waits for nothing. GET /socket (/dns, /name, /pg, /http) makes WAITS_COUNT calls, one after the other, each of
# which waits for an answer of this machine. benchmark/support/waits.rb has what answers.
require "net/http"
require "resolv"
require "socket"

# Connections for one request at a time: there are as many as there were requests at once.
class Spare
  # The block opens a connection.
  def initialize(&connect)
    @connect = connect
    @free = []
  end

  # Yields a connection. If the block raises, that connection is not used again.
  def use
    connection = @free.pop || @connect.call
    yield(connection).tap { @free << connection }
  end
end

count = Integer(ENV.fetch("WAITS_COUNT"))
port = Integer(ENV.fetch("WAITS_SOCKET"))
resolver = Resolv::DNS.new(nameserver_port: [["127.0.0.1", Integer(ENV.fetch("WAITS_DNS"))]], search: [], ndots: 1)
upstream = URI(ENV.fetch("WORK_UPSTREAM", "http://127.0.0.1"))

sockets = Spare.new { TCPSocket.new("127.0.0.1", port) }
clients = Spare.new { Net::HTTP.new(upstream.host, upstream.port, nil).start }
databases = Spare.new do
  require "pg"
  PG.connect(ENV.fetch("WORK_DATABASE"))
end

calls = {
  "/socket" => -> { sockets.use { |socket| socket.write("?") && socket.readpartial(1) } },
  "/dns" => -> { resolver.getresource("waits.example", Resolv::DNS::Resource::IN::A) },
  "/name" => -> { Addrinfo.getaddrinfo("localhost", 80, nil, :STREAM) },
  "/pg" => -> { databases.use { |database| database.exec("SELECT 1") } },
  "/http" => -> { clients.use { |client| client.get("/?delay_ms=1") } }
}

run lambda { |env|
  call = calls[env["PATH_INFO"]]
  count.times { call.call } if call
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}
