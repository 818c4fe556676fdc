# frozen_string_literal: true

require "socket"

# A server for a test, whose answers come from a block: the block gets each request and returns [status, fields, body].
# Fields are [[name, value], …]. Answers have a Content-Length, and the connection persists unless a field says close.
class Answering
  Request = Struct.new(:method, :path, :fields, :body, :connection) do
    def [](name) = fields[name.downcase]
  end

  attr_reader :requests

  def initialize(&answer)
    @answer = answer
    @requests = []
    @connections = 0 # connections that sent a request
    @lock = Mutex.new
    @listener = TCPServer.new("127.0.0.1", 0)
    @threads = [Thread.new { accept }]
  end

  def url(path = "/") = "http://127.0.0.1:#{@listener.local_address.ip_port}#{path}"
  def paths = @requests.map { |request| "#{request.method} #{request.path}" }

  def close
    @threads.each(&:kill).each(&:join)
    @listener.close
  end

  private

  def accept
    loop do
      socket = @listener.accept
      @threads << Thread.new { serve(socket) }
    end
  end

  def serve(socket)
    connection = nil
    while (request = read(socket))
      request.connection = connection ||= @lock.synchronize { @connections += 1 }
      status, fields, body = @lock.synchronize do
        @requests << request
        @answer.call(request)
      end
      socket.write(response(status, fields, body, request.method == "HEAD"))
      break if fields.any? { |name, value| name == "Connection" && value == "close" }
    end
  rescue SystemCallError
    nil
  ensure
    socket.close
  end

  def read(socket)
    line = socket.gets("\r\n") or return
    fields = {}
    while (field = socket.gets("\r\n")) && field != "\r\n"
      name, value = field.chomp.split(": ", 2)
      fields[name.downcase] = value
    end
    method, path = line.split
    Request.new(method, path, fields, socket.read(fields["content-length"].to_i))
  end

  def response(status, fields, body, head)
    lines = ["HTTP/1.1 #{status} Said", *fields.map { |pair| pair.join(": ") }, "Content-Length: #{body.bytesize}"]
    "#{lines.join("\r\n")}\r\n\r\n#{body unless head}"
  end
end
