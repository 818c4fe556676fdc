# frozen_string_literal: true

require_relative "app"
require_relative "dialogue"

# One engine with each core and each of its back ends, with the same app, for the whole run. #check compares the sides.
# The following may differ, and is not compared:
#
# - what belongs to one server or one moment: the date, the port, the objects in an env (App::OWN), and in reports the
#   place and the addresses of objects (Reports)
# - the order of the effects of two requests on one connection: the app may close a body while the next request is
#   already in it, because the body has been sent (App notes each request separately)
# - 100 (Continue) in a dialogue with cuts: it depends on whether some of the body was there (RFC 9110, 10.1.1)
# - whether the end is a reset: that shows which was faster, a server that had sent its last octets or a client that
#   continued (RFC 9112, 9.6). If a response exceeds the kernel's buffers, such a client can lose the rest, so a client
#   that waits reads everything before it continues.
# - differences that do not appear each time (#unsteady): they depend on when the octets arrive
class Sides
  # The differences between the sides, as text.
  class Difference < StandardError; end

  PAUSE = 0.1    # seconds that a client waits if no answer comes
  LATE = 0.01    # seconds between the last octet and the input's end, and for the rest of an answer that has begun
  PATIENCE = 1   # seconds that it waits for a 100 (Continue), which is certain while the connection persists
  TIMES = 3      # how often a difference must appear
  LONGEST = 30   # seconds for a dialogue
  CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n"

  # The results of a side: what the app saw, and the octets until the connection's end.
  Result = Struct.new(:notes, :octets)

  # A service that reports when no request is under way.
  class Counted
    def initialize(service)
      @service = service
      @under_way = 0
      @state = Mutex.new
      @changed = ConditionVariable.new
    end

    def call(exchange)
      count(1)
      @service.call(exchange)
    ensure
      count(-1)
    end

    # Returns when no request is under way.
    def settle
      @state.synchronize { @changed.wait(@state, 1) until @under_way.zero? }
    end

    private

    def count(number)
      @state.synchronize do
        @under_way += number
        @changed.broadcast if @under_way.zero?
      end
    end
  end

  # A server of an App that takes notes. It trusts its clients as proxies, whose fields describe other clients.
  class Watched < Cuttle::Server
    def initialize(**options)
      @turns = Thread::Queue.new
      super(App.new(@turns), keep_alive: true, drain_grace: 0, trust: %w[127.0.0.1 10.0.0.0/8], **options)
    end

    # The notes since the last call, request by request, when no request is under way.
    def take_notes
      @counted.settle
      Array.new(@turns.size) { @turns.pop }.flatten(1)
    end

    # In place of a Service::Recipe: everything is loaded, and there is no log.
    Ready = Struct.new(:build) do
      def preload = nil
      def flush = nil
    end

    private

    def recipe
      Ready.new(@counted = Counted.new(super.build))
    end
  end

  # Differences that did not appear each time, as text.
  attr_reader :unsteady

  # +others+: options for the servers of other cores than the native one.
  def initialize(engine, **others)
    @engine = engine
    @others = others
    @servers = ways.to_h { |core, backend| [[core, *backend].join("/"), start(core, backend)] }
    @unsteady = []
  end

  def stop = @servers.each_value(&:stop)

  # Raises Difference if a difference appears each time.
  def check(dialogue)
    found = nil
    TIMES.times do
      results = @servers.transform_values { |server| result(server, dialogue) }
      return (@unsteady << "not each time: #{found}\n" if found) if results.values.uniq.size == 1

      found = describe(dialogue, results)
    end
    raise Difference, found
  end

  private

  # The native core's best back end, and all of the other cores.
  def ways
    return Cuttle::Cores.names.product([nil]) unless Cuttle::Engines.traits(@engine).evented?

    Cuttle::Cores.names.flat_map do |core|
      core == "native" ? [[core, nil]] : Cuttle::Cores.fetch(core)::Poller.backends.map { |name| [core, name] }
    end
  end

  def start(core, backend)
    before = ENV.fetch("CUTTLE_BACKEND", nil)
    ENV["CUTTLE_BACKEND"] = backend
    Watched.new(engine: @engine, core: core, early_hints: true, **(core == "native" ? {} : @others)).start
  ensure
    ENV["CUTTLE_BACKEND"] = before
  end

  # Removes what is the same on all sides.
  def describe(dialogue, results)
    parts = Result.members.reject { |part| results.each_value.map(&part).uniq.size == 1 }
    lines = parts.product(results.to_a).map do |part, (core, result)|
      found = result[part]
      found = found.drop(same_notes(results)) if part == :notes
      "  #{core.ljust(12)} #{part}: #{Dialogue.source(found)}"
    end
    ["engine #{@engine}", dialogue.inspect, *lines].join("\n")
  end

  # The number of equal notes on all sides before the first difference.
  def same_notes(results)
    first, *others = results.each_value.map(&:notes)
    others.map { |notes| first.zip(notes).take_while { |one, other| one == other }.size }.min
  end

  def result(server, dialogue)
    octets = TCPSocket.open("127.0.0.1", server.port) { |socket| converse(socket, dialogue) }
    notes = server.take_notes
    octets.gsub!(/^date: [^\r]*GMT/i, "date")
    octets.gsub!(CONTINUE, "") if dialogue.cut?
    Result.new(notes, octets)
  end

  def converse(socket, dialogue)
    socket.setsockopt(:TCP, :NODELAY, true)
    back = "".b
    dialogue.writes.each { |octets, waits| say(socket, octets, waits, back) }
    collect(socket, back, LATE) if dialogue.late?
    close_write(socket)
    collect(socket, back, LONGEST) || raise(Difference, "no end of #{dialogue} after #{Dialogue.source(back)}")
    back
  end

  # A client that reads while it writes, because the server stops reading while its answer is not read.
  def say(socket, octets, waits, back)
    until octets.empty?
      written = socket.write_nonblock(octets, exception: false)
      if written.is_a?(Integer) then octets = octets.byteslice(written..)
      else
        IO.select([socket], [socket], nil, LONGEST)
        receive(socket, back)
      end
    end
    hear(socket, waits, back) if waits
  rescue SystemCallError
    nil # reading tells how it ended
  end

  def hear(socket, what, back)
    return await_continue(socket, back) if what == :continue

    collect(socket, back, LATE) if socket.wait_readable(PAUSE)
  end

  def await_continue(socket, back)
    known = back.scan(CONTINUE).size
    loop do
      return if !socket.wait_readable(PATIENCE) || receive(socket, back) == :end || back.scan(CONTINUE).size > known
    end
  end

  def close_write(socket)
    socket.close_write
  rescue SystemCallError
    nil
  end

  # Reads to the end. nil if the end does not come within +seconds+.
  def collect(socket, back, seconds)
    loop do
      return nil unless socket.wait_readable(seconds)

      return true if receive(socket, back) == :end
    end
  end

  def receive(socket, back)
    octets = socket.read_nonblock(65_536, exception: false)
    return if octets == :wait_readable
    return :end unless octets

    back << octets
    nil
  rescue SystemCallError
    :end
  end
end
