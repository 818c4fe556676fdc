# frozen_string_literal: true

# An app with every kind of body there is, for bin/soak. Each answer is made of the request's own id, so that a client
# sees when it got another one's. GC runs on /settle.
require "digest/md5"
require "tempfile"

TEXT = { "content-type" => "text/plain" }.freeze
FILE_SIZE = 100_000
file = Tempfile.create("soak").tap { |each| each.write("f" * FILE_SIZE) && each.flush }

# Parts from a thread of their own, as from a database's cursor; it ends when nobody wants them any more.
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

def digest(input)
  sum = Digest::MD5.new
  size = 0
  while (part = input.read(65_536))
    size += part.bytesize
    sum << part
  end
  "#{size} #{sum.hexdigest}"
end

# The whole response, on the socket itself.
def take_over(env, id)
  socket = env["rack.hijack"].call
  socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: #{id.bytesize}\r\n\r\n#{id}")
  socket.close
  [-1, {}, []]
end

apps = {
  "/small" => ->(_env, id) { [200, TEXT, [id]] },
  "/large" => ->(_env, id) { [200, TEXT, [format("%-15s\n", id) * 20_000]] },
  "/stream" => ->(_env, id) { [200, TEXT, (0...50).lazy.map { |number| "#{id} #{number}\n" }] },
  "/fed" => ->(_env, id) { [200, TEXT, Fed.new(id)] },
  "/call" => ->(_env, id) { [200, TEXT, ->(stream) { stream.write(id * 3) && stream.close }] },
  "/file" => ->(_env, _id) { [200, { "content-length" => FILE_SIZE.to_s }, File.open(file.path)] },
  "/upload" => ->(env, _id) { [200, TEXT, [digest(env["rack.input"])]] },
  "/sleep" => ->(_env, id) { sleep(0.005) && [200, TEXT, [id]] },
  "/hijack" => ->(env, id) { take_over(env, id) },
  "/partial" => lambda { |_env, id|
    [200, { "connection" => "close", "rack.hijack" => ->(io) { io.write(id) && io.close } }, []]
  },
  "/error" => ->(_env, _id) { raise "as it was asked to" },
  "/settle" => ->(_env, _id) { [200, TEXT, [GC.start.to_s]] },
  "/" => ->(_env, _id) { [200, TEXT, ["Hello, world!"]] }
}

run ->(env) { apps.fetch(env["PATH_INFO"]).call(env, env["QUERY_STRING"]) }
