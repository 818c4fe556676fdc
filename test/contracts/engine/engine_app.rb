# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "socket"
require "timeout"

# The app that engines are tested with. /ACTION?ARGUMENT runs the method of that name.
#
# Gates hold requests in the app, so that a test knows where each request is without measuring time: /hold?NAME writes
# the file NAME.in and waits for the file NAME.go, both in the directory CUTTLE_GATES.
class EngineApp
  PLAIN = { "content-type" => "text/plain" }.freeze

  SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

  # A body that runs a Proc. The Proc gets the block that takes the parts.
  Parts = Struct.new(:run) do
    def each(&part) = run.call(part)
  end

  # A body that runs a Proc at its close.
  Closing = Struct.new(:run) do
    def each = yield("closing")
    def close = run.call
  end

  class << self
    def call(env) = current.call(env)

    # Its state can't be shared: each ractor has its own app. (JRuby has no ractors; the first call is below.)
    def current
      return @current ||= new unless defined?(Ractor)

      Ractor.respond_to?(:store_if_absent) ? Ractor.store_if_absent(:app) { new } : Ractor.current[:app] ||= new
    end
  end

  def initialize
    @lock = Mutex.new
    @counting = Mutex.new
    @condition = ConditionVariable.new
    @queue = Queue.new
    @inside = @most_inside = @ended = @closed = 0
    @lists = []
    @called = []
    @sockets = []
  end

  def call(env)
    action = env["PATH_INFO"].delete_prefix("/")
    action = "hello" if action.empty?
    action = "server" if action == "*"
    answer = entered { public_send(action, env["QUERY_STRING"], env) }
    answer.is_a?(Array) ? answer : [200, PLAIN.dup, [answer.to_s]]
  end

  def hello(*) = "hello"

  def pid(*) = Process.pid

  def who(*) = "#{Process.pid} #{object_id}"

  # The most requests that were in the app at once.
  def most(*) = @most_inside

  def manners(_, env) = env.values_at("rack.multithread", "rack.multiprocess").inspect

  def client(_, env) = env.values_at("REMOTE_ADDR", "rack.url_scheme").inspect

  def echo(argument, _) = argument

  def digest(_, env)
    body = env["rack.input"].read
    "#{body.bytesize} #{Digest::SHA256.hexdigest(body)}"
  end

  # Responses as Rack allows them (EngineContract::Conforms).

  def server(_, env) = "#{env.fetch("REQUEST_METHOD")} #{env.fetch("PATH_INFO")}"

  def status(code, _) = [code.to_i, {}, []]

  def echo_input(_, env) = [200, PLAIN.dup, env.fetch("rack.input")]

  def echo_header(_, env) = [200, { "content-type" => env.fetch("CONTENT_TYPE") }, []]

  def cookies(*) = [200, { "set-cookie" => %w[a=1 b=2] }, []]

  # A body that also has `call`.
  def itself(*) = [200, PLAIN.dup, self]

  def each
    yield "each of "
    yield "itself"
  end

  def greet_stream(*) = [200, PLAIN.dup, ->(stream) { greet(stream) }]

  def greet_hijacked(*) = [200, PLAIN.merge("rack.hijack" => ->(stream) { greet(stream) }), nil]

  # Another protocol: sends the received octets back in capitals, until the client ends.
  def upgrade(*)
    speak = lambda do |stream|
      loop { stream.write(stream.readpartial(1_000).upcase) }
    rescue EOFError
      stream.close
    end
    [101, { "connection" => "upgrade", "upgrade" => "capitals", "rack.hijack" => speak }, nil]
  end

  def large(size, _) = [200, PLAIN.dup, ["x" * size.to_i]]

  def stream(size, _) = [200, PLAIN.dup, Enumerator.new { |parts| (size.to_i / 1_000).times { parts << "y" * 1_000 } }]

  def nap(seconds, _) = sleep(seconds.to_f)

  # Two actions that answer how many of them have ended: one waits, one computes.

  def rest(seconds, _) = sleep(seconds.to_f) && (@ended += 1)

  def compute(seconds, _)
    until_then = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds.to_f
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > until_then
    @ended += 1
  end

  # Two actions that compute, release the GVL briefly, and answer how many requests were in the app: one looks for a
  # file once; one does so for half a millisecond on any machine.

  def glance(*)
    File.stat("/")
    @inside
  end

  def stat(*)
    inside = @inside
    until_then = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.0005
    File.stat("/") until Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) > until_then
    inside
  end

  def hold(gate, _)
    tell(gate, Process.pid)
    sleep 0.005 until File.exist?("#{gate(gate)}.go")
    "held"
  end

  # The same, but a stop of the worker also ends it. It may come as soon as the test knows where the request is.
  def hold_until_stop(gate, _)
    server = ObjectSpace.each_object(Cuttle::Server).find(&:serving?)
    tell(gate, Process.pid)
    sleep 0.005 until File.exist?("#{gate(gate)}.go") || !server.serving?
    "held"
  end

  # A gate after the response.
  def greet_and_hold(gate, env)
    env["rack.after_reply"] << -> { hold(gate, env) }
    "hello"
  end

  # The same, and then another gate.
  def greet_and_tell(gate, env)
    env["rack.after_reply"] << -> { hold(gate, env) && tell("#{gate}-over", Process.pid) }
    "hello"
  end

  # A response that has begun, and continues when the gate opens.
  def begin(gate, _)
    [200, PLAIN.dup, Enumerator.new { |parts| (parts << "begun, ") && (parts << hold(gate, nil)) }]
  end

  def hold_and_fail(gate, env) = hold(gate, env) && raise("late, on purpose")

  def hold_and_hint(gate, env)
    hold(gate, env)
    env["rack.early_hints"].call("link" => "</late>")
  end

  def hold_and_hijack(gate, env) = hold(gate, env) && env["rack.hijack"].call.close

  def hold_and_close(gate, env) = hold(gate, env) && [200, PLAIN.dup, Closing.new(-> { @closed += 1 })]

  # How often that body was closed.
  def closed(*) = @closed

  # A socket of the app, on which it answers and which it closes.
  def take_over(_, env)
    socket = env["rack.hijack"].call
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken")
    socket.close
  end

  # The same, in a child that the app forks for it.
  def hand_over(_, env)
    socket = env["rack.hijack"].call
    Process.detach(Process.fork { answer_as_child(socket) })
    socket.close
  end

  # A socket that its request serves until the client ends it.
  def serve_alone(_, env)
    socket = env["rack.hijack"].call
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nalone")
    socket.read
  end

  # Sockets that stay open until their clients end them: by a full hijack, and by a partial one.

  def websocket(_, env)
    socket = env["rack.hijack"].call
    socket.write(SWITCHING)
    attend(socket)
  end

  def websocket_in_part(*)
    [101, { "connection" => "Upgrade", "upgrade" => "websocket", "rack.hijack" => method(:attend) }, nil]
  end

  # Closes a WebSocket, and opens sockets to a port, one of which gets the number of its descriptor. They stay open.
  def swap(port, env)
    socket = env["rack.hijack"].call
    socket.write(SWITCHING)
    number = socket.fileno
    socket.close
    @sockets << TCPSocket.open("127.0.0.1", port.to_i) until @sockets.any? { |other| other.fileno == number }
  end

  # Ends the WebSockets as an app does: with its own Close frame.
  def hang_up
    @sockets.reject(&:closed?).each do |socket|
      socket.write([0x88, 2, 1000].pack("CCn"))
      socket.close
    end
  end

  def fail(*) = raise("on purpose")

  def fail_badly(*) = raise(Exception, "on purpose")

  def break_off(*) = [200, PLAIN.dup, Enumerator.new { |parts| (parts << "some") && raise("on purpose") }]

  def kill(*) = Thread.current.kill

  def time_out(*)
    Timeout.timeout(0.02) { sleep }
  rescue Timeout::Error
    "timed out"
  end

  # A callback after the response that raises an exception that is not a StandardError.
  def finish_badly(name, env)
    (env["rack.response_finished"] ||= []) << ->(*) { raise Object.const_get(name), "on purpose" }
    "hello"
  end

  # Forty lines from another thread, one every 20 ms: /feed through each, /feed_stream through a stream that the thread
  # has.

  def feed(*)
    lines = Queue.new
    Thread.new { forty { |line| lines << line } && lines.close }
    [200, PLAIN.dup, Parts.new(->(part) { while (line = lines.pop) do part.call(line) end })]
  end

  def feed_stream(*)
    [200, PLAIN.dup, ->(stream) { Thread.new { forty { |line| stream.write(line) } && stream.close } }]
  end

  # Calls after the response: /callbacks?NAME adds two callbacks to its lists, which must be new and empty, and two to
  # the lists of earlier requests, which must have no effect. /called answers which callbacks have run.

  def callbacks(name, env)
    lists = env.values_at("rack.response_finished", "rack.after_reply")
    fresh = lists.all?(&:empty?) && lists.none? { |list| @lists.any? { |kept| kept.equal?(list) } }
    @lists.each { |kept| kept << ->(*) { @called << "stale" } }
    @lists.concat(lists)
    lists.each { |list| list << ->(*) { @called << name } }
    fresh ? "fresh" : "used before"
  end

  def called(*) = @called.join(" ")

  # Objects that an app keeps from one request (/keep?hijack …) and uses in the next one (/use?hijack …). The answer
  # gives the result.

  def keep(what, env) = (@kept = env["rack.#{what}"]) && "kept"

  def use(what, _)
    attempt do
      case what
      when "hijack" then @kept.call
      when "early_hints" then @kept.call({ "link" => "</late>" })
      when "input" then @kept.read
      end
    end
  end

  # The same for objects of a response: its stream, or the block that takes its parts.

  def keep_stream(ending, _)
    body = lambda do |stream|
      @kept = stream
      stream.write("first")
      ending == "raise" ? fail : stream.close
    end
    [200, PLAIN.dup, body]
  end

  def use_stream(verb, _)
    arguments = %w[write <<].include?(verb) ? ["INTRUDER"] : []
    body = lambda do |stream|
      stream.write("second ")
      stream.write(attempt { @kept.public_send(verb, *arguments) })
      stream.close
    end
    [200, PLAIN.dup, body]
  end

  def keep_block(ending, _)
    body = lambda do |part|
      @kept = part
      part.call("first")
      fail if ending == "raise"
    end
    [200, PLAIN.dup, Parts.new(body)]
  end

  def use_block(*)
    [200, PLAIN.dup, Parts.new(->(part) { part.call("second ") && part.call(attempt { @kept.call("INTRUDER") }) })]
  end

  # /fork?WAY,GATE: the parent answers with the child's pid, which it also writes to the file GATE.in. The child
  # continues in the given way.
  def fork(argument, _)
    way, gate = argument.split(",")
    child = way == "block" ? Process.fork { nil } : Process.fork
    return go(way, gate) unless child

    Process.detach(child)
    tell(gate, child)
    "parent #{child}"
  end

  # Occupies every free descriptor, and each one that becomes free, until the gate opens.
  def hoard(gate, _)
    full = Queue.new
    Thread.new do
      hoarded = []
      until File.exist?("#{gate(gate)}.go")
        grab(hoarded)
        full << true
        sleep 0.1 # Ruby collects at each failure
      end
      hoarded.each(&:close)
    end
    full.pop && "full"
  end

  def collect(*) = GC.start

  # A fiber of the app that waits for a pipe, whose descriptor is then closed without Ruby's knowledge.
  def close_beneath(*)
    reader, @writer = IO.pipe
    Fiber.schedule { reader.wait_readable }
    fileno = reader.fileno
    reader.autoclose = false
    @reader = reader
    IO.for_fd(fileno).close
    fileno
  end

  # Ends all of the engine's threads but the calling one. Sockets that were not closed stay open.
  def kill_others(*)
    GC.disable
    Thread.list.each { |thread| thread.kill if thread.name.to_s.start_with?("cuttle ") && thread != Thread.current }
    "done"
  end

  # What a child process inherits besides its standard input and output: the targets of its descriptors.
  def inherited(*) = IO.popen(["sh", "-c", "readlink /proc/$$/fd/*"], &:read)

  # Waits that occupy a fiber, but not its thread.

  def fetch(address, _)
    host, port = address.split(":")
    TCPSocket.open(host, port.to_i) do |socket|
      socket.puts "a question"
      socket.gets
    end
  end

  def resolve(name, _) = Addrinfo.getaddrinfo(name, 80, nil, :STREAM).map(&:ip_address).join(" ")

  def child(gate, _)
    command = "touch #{gate(gate)}.in; until test -e #{gate(gate)}.go; do sleep 0.01; done; exit 7"
    Process.wait(spawn("sh", "-c", command))
    $?.exitstatus
  end

  def lock(gate, env) = @lock.synchronize { hold(gate, env) }

  def pop(gate, _)
    FileUtils.touch("#{gate(gate)}.in")
    @queue.pop
  end

  def push(argument, _) = @queue.push(argument).length

  def await(gate, _)
    @lock.synchronize do
      FileUtils.touch("#{gate(gate)}.in")
      @condition.wait(@lock)
    end
    "signalled"
  end

  def signal(*)
    @lock.synchronize { @condition.signal }
    "done"
  end

  def join(gate, env) = Thread.new { hold(gate, env) }.value

  private

  def greet(stream)
    stream.write("hello ")
    stream.write("stream")
    stream.close
  end

  def attend(socket)
    @sockets << socket
    Thread.new do
      nil while socket.readpartial(1_000)
    rescue IOError, SystemCallError
      socket.close
    end
  end

  def answer_as_child(socket)
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nchild")
    socket.close
    exit!
  end

  def tell(gate, text)
    File.write("#{gate(gate)}.in.tmp", text.to_s)
    File.rename("#{gate(gate)}.in.tmp", "#{gate(gate)}.in")
  end

  # The result: the class of the exception, or the value.
  def attempt
    "gave #{yield.inspect}"
  rescue StandardError => error
    error.is_a?(IOError) ? "IOError" : error.class.name
  end

  def forty
    40.times { |number| yield("line #{number}\n") && sleep(0.02) }
  end

  # What a forked child does.
  def go(way, gate)
    case way
    when "exit" then exit
    when "exit!" then exit!
    when "raise" then raise("in the child")
    when "sleep" then (sleep 0.01 until File.exist?("#{gate(gate)}.go")) || exit!
    end
    "child"
  end

  def grab(hoarded)
    loop { hoarded << File.open(File::NULL) }
  rescue Errno::EMFILE
    nil
  end

  def gate(name) = "#{ENV.fetch("CUTTLE_GATES")}/#{name}"

  # The lock is not the one that apps under test wait for.
  def entered
    @counting.synchronize { @most_inside = [@most_inside, @inside += 1].max }
    yield
  ensure
    @counting.synchronize { @inside -= 1 }
  end
end
