# frozen_string_literal: true

require "digest"
require "fileutils"
require "socket"
require "timeout"

# The app that engines are tested with. /ACTION?ARGUMENT runs the method of that name.
#
# Requests are held in the app by gates, so that a test knows who is where without measuring time: /hold?NAME writes the
# file NAME.in and stays until there is a file NAME.go, both in the directory that CUTTLE_GATES names.
class EngineApp
  LOCK = Mutex.new
  CONDITION = ConditionVariable.new
  QUEUE = Queue.new
  PLAIN = { "content-type" => "text/plain" }.freeze

  def initialize
    @inside = @most_inside = @ended = 0
  end

  def call(env)
    action = env["PATH_INFO"].delete_prefix("/")
    action = "hello" if action.empty?
    answer = entered { public_send(action, env["QUERY_STRING"], env) }
    answer.is_a?(Array) ? answer : [200, PLAIN.dup, [answer.to_s]]
  end

  def hello(*) = "hello"

  def pid(*) = Process.pid

  # The most requests that were in the app at once.
  def most(*) = @most_inside

  def manners(_, env) = env.values_at("rack.multithread", "rack.multiprocess").inspect

  def echo(argument, _) = argument

  def digest(_, env)
    body = env["rack.input"].read
    "#{body.bytesize} #{Digest::SHA256.hexdigest(body)}"
  end

  def large(size, _) = [200, PLAIN.dup, ["x" * size.to_i]]

  def stream(size, _) = [200, PLAIN.dup, Enumerator.new { |parts| (size.to_i / 1_000).times { parts << "y" * 1_000 } }]

  def nap(seconds, _) = sleep(seconds.to_f)

  # Two that answer how many of them have ended: one that waits, one that computes.

  def rest(seconds, _) = sleep(seconds.to_f) && (@ended += 1)

  def compute(seconds, _)
    until_then = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds.to_f
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > until_then
    @ended += 1
  end

  # Half a millisecond of computing, that lets the GVL go all the time; how many are in the app meanwhile.
  def stat(*)
    inside = @inside
    50.times { File.stat("/") }
    inside
  end

  def hold(gate, _)
    File.write("#{gate(gate)}.in.tmp", Process.pid.to_s)
    File.rename("#{gate(gate)}.in.tmp", "#{gate(gate)}.in")
    sleep 0.005 until File.exist?("#{gate(gate)}.go")
    "held"
  end

  # A response that has begun, and goes on behind the gate.
  def begin(gate, _)
    [200, PLAIN.dup, Enumerator.new { |parts| (parts << "begun, ") && (parts << hold(gate, nil)) }]
  end

  def hold_and_fail(gate, env) = hold(gate, env) && raise("late, on purpose")

  def hold_and_hint(gate, env)
    hold(gate, env)
    env["rack.early_hints"].call("link" => "</late>")
  end

  def hold_and_hijack(gate, env) = hold(gate, env) && env["rack.hijack"].call.close

  def fail(*) = raise("on purpose")

  def fail_badly(*) = raise(Exception, "on purpose")

  def break_off(*) = [200, PLAIN.dup, Enumerator.new { |parts| (parts << "some") && raise("on purpose") }]

  def kill(*) = Thread.current.kill

  def time_out(*)
    Timeout.timeout(0.02) { sleep }
  rescue Timeout::Error
    "timed out"
  end

  # What a fiber waits for, without its thread.

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

  def lock(gate, env) = LOCK.synchronize { hold(gate, env) }

  def pop(gate, _)
    FileUtils.touch("#{gate(gate)}.in")
    QUEUE.pop
  end

  def push(argument, _) = QUEUE.push(argument).length

  def await(gate, _)
    LOCK.synchronize do
      FileUtils.touch("#{gate(gate)}.in")
      CONDITION.wait(LOCK)
    end
    "signalled"
  end

  def signal(*)
    LOCK.synchronize { CONDITION.signal }
    "done"
  end

  def join(gate, env) = Thread.new { hold(gate, env) }.value

  private

  def gate(name) = "#{ENV.fetch("CUTTLE_GATES")}/#{name}"

  # += between two threads would need the lock, which apps under test wait for.
  def entered
    @inside += 1
    @most_inside = @inside if @inside > @most_inside
    yield
  ensure
    @inside -= 1
  end
end

run EngineApp.new
