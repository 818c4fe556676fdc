# frozen_string_literal: true

require_relative "app"
require_relative "dialogue"

# One engine over each core and each of its back ends, with the same app, for the whole run. #check holds the sides
# against each other. These may differ, and are not compared:
#
# - what belongs to one server or one moment: the date, the port, the objects in an env (App::OWN), and in reports the
#   place and the addresses of objects (Reports)
# - the order of what two requests on one connection do: the app may close a body while the next request is in it, as
#   the body has been sent (App notes each request on its own)
# - 100 (Continue) in a dialogue with cuts: it depends on whether some of the body was there (RFC 9110, 10.1.1)
# - whether the end is a reset: that tells which was faster, a server that had said its last or a client that went on
#   (RFC 9112, 9.6). With a response beyond the kernel's buffers such a client can lose the rest, so one that waits
#   reads all that comes before it goes on.
# - what does not show each time (#unsteady): it depends on when the octets arrive
class Sides
  # What the sides did differently, as text.
  class Difference < StandardError; end

  PAUSE = 0.1    # seconds that a client waits for an answer that does not come
  LATE = 0.01    # seconds between the last octet and the input's end, and for the rest of an answer that has begun
  PATIENCE = 1   # seconds that it waits for a 100 (Continue), which is sure to come while the connection persists
  TIMES = 3      # how often a difference must show
  LONGEST = 30   # seconds for a dialogue
  CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n"

  # What each side did: what the app saw, and what came back until the connection's end.
  Result = Struct.new(:notes, :octets)

  # A service that tells when no request is under way.
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

    # Returns when nothing is under way.
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

  # A server of an App that takes notes. Its clients are proxies, whose fields tell of others.
  class Watched < Cuttle::Server
    def initialize(**options)
      @turns = Thread::Queue.new
      super(App.new(@turns), keep_alive: true, drain_grace: 0, trust: %w[127.0.0.1 10.0.0.0/8], **options)
    end

    # What was noted since the last time, request by request, once nothing is under way.
    def take_notes
      @counted.settle
      Array.new(@turns.size) { @turns.pop }.flatten(1)
    end

    private

    def recipe
      Struct.new(:build).new(@counted = Counted.new(super.build))
    end
  end

  # Differences that did not show each time, as text.
  attr_reader :unsteady

  # +others+: options for the servers of other cores than the native one.
  def initialize(engine, **others)
    @engine = engine
    @others = others
    @servers = ways.to_h { |core, backend| [[core, *backend].join("/"), start(core, backend)] }
    @unsteady = []
  end

  def stop = @servers.each_value(&:stop)

  # Raises Difference where one shows each time.
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
    Watched.new(engine: @engine, core: core, **(core == "native" ? {} : @others)).start
  ensure
    ENV["CUTTLE_BACKEND"] = before
  end

  # Without what is the same on all sides.
  def describe(dialogue, results)
    parts = Result.members.reject { |part| results.each_value.map(&part).uniq.size == 1 }
    lines = parts.product(results.to_a).map do |part, (core, result)|
      found = result[part]
      found = found.drop(same_notes(results)) if part == :notes
      "  #{core.ljust(12)} #{part}: #{Dialogue.source(found)}"
    end
    ["engine #{@engine}", dialogue.inspect, *lines].join("\n")
  end

  # How many notes all sides have made alike before the first that differs.
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

  # A client that reads while it writes, as the server does not read on while its answer is not taken.
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

  # Reads to the end. nil if that does not come within +seconds+.
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
