# frozen_string_literal: true

# An app with every kind of body, for bin/soak. Each response is made from the request's own id, so that a client
# notices another client's response. /collect runs GC; /settle also makes malloc return its free pages. Ractors can
# share the app.
require "digest/md5"
require "tempfile"

TEXT = { "content-type" => "text/plain" }.freeze
KEPT = Tempfile.new("soak").tap { |file| file.write("f" * 100_000) && file.flush } # until the process ends
FILE = KEPT.path.dup.freeze

# Produces parts in its own thread, like a database cursor. The thread ends when the body is closed.
class Fed
  def initialize(id)
    @queue = queue = Thread::SizedQueue.new(2)
    Thread.new do
      10.times { |number| queue << "#{id} #{number}\n" }
      queue.close
    rescue ClosedQueueError
      nil
    end
  end

  def each
    while (part = @queue.pop)
      yield part
    end
  end

  def close
    @queue.close
  end
end

# A page is a method that takes the env and the id.
class Pages
  NAMES = %w[small large stream fed file upload sleep hijack partial error collect settle].to_h do |name|
    ["/#{name}".freeze, name.to_sym]
  end.merge("/" => :home, "/call" => :call_stream).freeze

  def call(env)
    public_send(NAMES.fetch(env["PATH_INFO"]), env, env["QUERY_STRING"])
  end

  def home(_env, _id) = text("Hello, world!")
  def small(_env, id) = text(id)
  def large(_env, id) = text(format("%-15s\n", id) * 20_000)
  def stream(_env, id) = [200, TEXT, (0...50).lazy.map { |number| "#{id} #{number}\n" }]
  def fed(_env, id) = [200, TEXT, Fed.new(id)]
  def call_stream(_env, id) = [200, TEXT, ->(stream) { stream.write(id * 3) && stream.close }]
  def file(_env, _id) = [200, { "content-length" => File.size(FILE).to_s }, File.open(FILE)]
  def upload(env, _id) = text(digest(env["rack.input"]))
  def sleep(_env, id) = Kernel.sleep(0.005) && text(id)
  def error(_env, _id) = raise("as requested")
  def collect(_env, _id) = text(GC.start.to_s)

  def settle(env, id)
    collect(env, id)
    text(Cuttle::Malloc.trim.to_s)
  end

  # Writes the whole response on the socket itself.
  def hijack(env, id)
    socket = env["rack.hijack"].call
    socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: #{id.bytesize}\r\n\r\n#{id}")
    socket.close
    [-1, {}, []]
  end

  def partial(_env, id)
    [200, { "connection" => "close", "rack.hijack" => ->(io) { io.write(id) && io.close } }, []]
  end

  private

  def text(body) = [200, TEXT, [body]]

  def digest(input)
    sum = Digest::MD5.new
    size = 0
    while (part = input.read(65_536))
      size += part.bytesize
      sum << part
    end
    "#{size} #{sum.hexdigest}"
  end
end

run Pages.new.freeze
